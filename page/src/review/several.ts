/** Deciding on several proposals at once: which of them can be accepted unseen, and a summary. Pure. */

import type { Proposal } from "../api/wire";

export interface Choice {
  proposals: readonly Proposal[];
  /** Those that can be accepted. */
  acceptable: readonly Proposal[];
  /** Those that stay open when all are accepted, with the reason. */
  left: readonly { proposal: Proposal; why: string }[];
  added: number;
  removed: number;
}

/** A choice of all proposals, or of those of one session. */
export function choiceOf(all: readonly Proposal[], session: string | undefined): Choice {
  const proposals = all.filter((one) => session === undefined || one.session === session);
  const acceptable = proposals.filter((proposal) => reasonToLook(proposal) === undefined);
  const left = proposals.flatMap((proposal) => {
    const why = reasonToLook(proposal);
    return why === undefined ? [] : [{ proposal, why }];
  });
  return {
    proposals,
    acceptable,
    left,
    added: sum(proposals.map(({ added = 0 }) => added)),
    removed: sum(proposals.map(({ removed = 0 }) => removed)),
  };
}

/** Why a proposal cannot be accepted together with others. */
function reasonToLook(proposal: Proposal): string | undefined {
  if (proposal.terminalOnly !== undefined) return "only the terminal can accept it";
  if ((proposal.conflicts ?? 0) > 0) return "it has conflicts";
  if (proposal.withheld !== undefined) return proposal.withheld;
  return proposal.stale === undefined ? undefined : `stale: ${proposal.stale}`;
}

/** The agents with proposals, in the order of their first one. */
export function agentsOf(all: readonly Proposal[]): { session: string; who: string }[] {
  const sessions = new Map(all.map(({ session, who }) => [session, who]));
  return [...sessions].map(([session, who]) => ({ session, who }));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
