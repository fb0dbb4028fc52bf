import { describe, expect, it } from "vitest";
import type { LogEntry } from "../src/api/wire";
import { ago, count, size } from "../src/text/format";
import { logSentence } from "../src/text/log-entry";
import { shellWord } from "../src/text/shell";
import { maskInvisible, relativePath, splitPath, visible } from "../src/text/visible";

describe("what cannot be seen", () => {
  it.each([
    ["main.rs", "main.rs"],
    ["naïve 文件 שלום 👩‍👩‍👧", "naïve 文件 שלום 👩‍👩‍👧"],
    ["evil\u202egnp.exe", "evil⟨202E⟩gnp.exe"],
    ["a\u001b[31m\nb\tc\r", "a⟨001B⟩[31m⟨000A⟩b⟨0009⟩c⟨CR⟩"],
    ["zero\u200bwidth\ufeff", "zero⟨200B⟩width⟨FEFF⟩"],
    ["tag\u{e0041}", "tag⟨E0041⟩"],
    ["<b>&amp;", "<b>&amp;"],
  ])("%j is shown as %j", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it("is masked without moving anything", () => {
    expect(maskInvisible("a\u202e\u{e0041}\n\tb")).toBe("a���\n\tb");
  });
});

describe("paths", () => {
  it("are cut at the last separator", () => {
    expect(splitPath("/a/b.rs")).toEqual({ folder: "/a/", name: "b.rs" });
    expect(splitPath("C:\\a\\b.rs")).toEqual({ folder: "C:\\a\\", name: "b.rs" });
    expect(splitPath("b.rs")).toEqual({ folder: "", name: "b.rs" });
  });

  it("are shown from the folder that contains them", () => {
    expect(relativePath("/home/ada/api/x.rs", ["/home/ada/web", "/home/ada/api"])).toBe("x.rs");
    expect(relativePath("/home/ada/apis/x.rs", ["/home/ada/api"])).toBe("/home/ada/apis/x.rs");
  });
});

describe("words for a shell", () => {
  it.each([
    ["/home/me/a-b_c.d", "/home/me/a-b_c.d"],
    ["/two words", "'/two words'"],
    ["it's $HOME `x` \\", "'it'\\''s $HOME `x` \\'"],
    ["a\nrm -rf b", "$'a\\012rm -rf b'"],
    ["tab\tand'\\\u001b[2J", "$'tab\\011and\\'\\\\\\033[2J'"],
    ["evil\u202egnp", "$'evil\\342\\200\\256gnp'"],
  ])("%j is written as %s", (text, word) => {
    expect(shellWord(text)).toBe(word);
  });
});

describe("numbers", () => {
  it("are said as people say them", () => {
    expect([count(1, "hunk"), count(0, "hunk"), count(5_000, "hunk")]).toEqual([
      "1 hunk",
      "0 hunks",
      "5,000 hunks",
    ]);
    expect([size(1), size(812), size(1_200), size(45_000), size(10_400_000)]).toEqual([
      "1 byte",
      "812 bytes",
      "1.2 kB",
      "45 kB",
      "10.4 MB",
    ]);
    const times = [-5_000, 59_000, 61_000, 7_200_000, 90_000_000, 200_000_000];
    expect(times.map((past) => ago(0, past))).toEqual([
      "just now",
      "just now",
      "1 min ago",
      "2 h ago",
      "1 day ago",
      "2 days ago",
    ]);
  });
});

describe("sentences", () => {
  const base = { number: 1, at: 0, agent: "qwen", path: "/p/a.rs" };
  it.each([
    [{ kind: "connected" }, "qwen connected"],
    [{ kind: "context", files: 3, bytes: 812 }, "qwen was told about 3 open files, 812 bytes"],
    [
      { kind: "context", files: 1, bytes: 90, times: 4 },
      "qwen was told about 1 open file, 90 bytes, 4 times",
    ],
    [{ kind: "context", agent: undefined, files: 0 }, "Agents were told about no open file"],
    [{ kind: "proposed" }, "qwen proposes a change to a.rs"],
    [{ kind: "accepted" }, "You accepted qwen’s change to a.rs"],
    [{ kind: "withdrawn", agent: "ev\u202eil" }, "ev⟨202E⟩il took back its change to a.rs"],
    [{ kind: "orphaned" }, "qwen disconnected and left its change to a.rs"],
    [{ kind: "paused", agent: undefined }, "You paused what agents see"],
  ] as const)("%j", (entry, words) => {
    expect(
      logSentence({ ...base, ...entry } as LogEntry, (path) => relativePath(path, ["/p"])),
    ).toBe(words);
  });
});
