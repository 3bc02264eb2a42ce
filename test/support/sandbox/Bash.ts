/** What bash itself says of wildcards: the measure for ours. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

const run = (script: string, input: ReadonlyArray<string>, args: ReadonlyArray<string> = []): string =>
  ChildProcess.execFileSync("/bin/bash", ["--norc", "--noprofile", "-c", script, "bash", ...args], {
    encoding: "utf8",
    env: { LC_ALL: "C.UTF-8" },
    input: input.map((text) => `${text}\0`).join(""),
    maxBuffer: 2 ** 28
  })

/** Whether each name matches the pattern beside it. */
export const matchNames = (pairs: ReadonlyArray<readonly [pattern: string, name: string]>): ReadonlyArray<boolean> => {
  const script = `while IFS= read -r -d '' p && IFS= read -r -d '' n; do if [[ $n == $p ]]; then printf 1; else printf 0; fi; done`
  return [...run(script, pairs.flat())].map((digit) => digit === "1")
}

/** What each text expands to in braces; the texts may hold nothing that means anything else to bash. */
export const expandBraces = (texts: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const script = `set -f; while IFS= read -r -d '' t; do eval "all=($t)"; ((\${#all[@]})) && printf '%s\\0' "\${all[@]}"; printf 'END\\0'; done`
  return run(script, texts)
    .split("END\0")
    .slice(0, -1)
    .map((all) => all.split("\0").slice(0, -1))
}

/** A tree of directories, three deep, with these names on every level; the paths from its root, each with a slash before. */
export const withTree = <A>(
  names: ReadonlyArray<string>,
  use: (root: string, paths: ReadonlyArray<string>) => A
): A => {
  const root = Fs.mkdtempSync(Path.join(Os.tmpdir(), "synapse-tree-"))
  try {
    const below = (paths: ReadonlyArray<string>) => paths.flatMap((path) => names.map((name) => `${path}/${name}`))
    const [one, two] = [below([""]), below(below([""]))]
    const three = below(two)
    for (const path of three) Fs.mkdirSync(root + path, { recursive: true })
    return use(root, [...one, ...two, ...three])
  } finally {
    Fs.rmSync(root, { recursive: true, force: true })
  }
}

/** What each pattern finds in the tree, as paths from its root; hidden names count. */
export const findPaths = (root: string, patterns: ReadonlyArray<string>): ReadonlyArray<ReadonlySet<string>> => {
  const script = `cd "$1"; IFS=; shopt -s globstar dotglob nullglob
    while read -r -d '' p; do for f in ./$p; do printf '%s\\0' "$f"; done; printf 'END\\0'; done`
  return run(script, patterns, [root])
    .split("END\0")
    .slice(0, -1)
    .map(
      (found) =>
        new Set(
          found
            .split("\0")
            .slice(0, -1)
            .map((path) => path.replace(/^\./, "").replace(/\/+$/, ""))
        )
    )
}
