/** How something that is not text is shown. Pure. */

import { visible } from "../text/visible";
import { safeLinkTarget } from "./markdown/link-target";
import type { Attached } from "./wire";

export type ShownAttachment =
  /** `source` is a picture, and no address. */
  | { as: "picture"; source: string }
  | { as: "link"; name: string | undefined; uri: string; href: string | undefined }
  | { as: "file"; uri: string; content: string }
  /** The line of text about it is all that there is to show. */
  | { as: "line" };

/** Pictures that hold nothing but pixels. One in SVG may hold scripts and addresses. */
const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

const WEB = new Set(["http:", "https:"]);

export function shownAs({ attachment }: Attached): ShownAttachment {
  switch (attachment.type) {
    case "image": {
      const { mimeType, data } = attachment;
      if (data === undefined || !PICTURES.has(mimeType) || !BASE64.test(data)) break;
      return { as: "picture", source: `data:${mimeType};base64,${data}` };
    }
    case "link": {
      const { name, uri } = attachment;
      const shown = name === "" || name === uri ? undefined : visible(name);
      return { as: "link", name: shown, uri: visible(uri), href: webAddress(uri) };
    }
    case "file":
      if (attachment.content === undefined) break;
      return { as: "file", uri: visible(attachment.uri), content: attachment.content };
  }
  return { as: "line" };
}

/** Other addresses mean something on the machine of the agent, or do something on this one. */
function webAddress(uri: string): string | undefined {
  const target = safeLinkTarget(uri);
  return target !== undefined && WEB.has(new URL(target).protocol) ? target : undefined;
}
