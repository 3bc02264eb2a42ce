/** Tells what runs a program of a skill: what its first line says, or else what its extension stands for. */
import * as Path from "node:path"
import * as Either from "effect/Either"
import type { Program } from "../../../command/CommandHandler.js"
import * as SkillFile from "../SkillFile.js"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

/** Node runs TypeScript without an option from 22.18 and 23.6 on; the shell's node is taken to be as new as this one. */
const typescript = [
  "tsx",
  "bun",
  ...(major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18) ? ["node"] : [])
]

/** The programs that run a file of an extension: the first that is there counts. */
const byExtension: Readonly<Record<string, ReadonlyArray<string>>> = {
  ".py": ["python3", "python"],
  ".js": ["node"],
  ".mjs": ["node"],
  ".cjs": ["node"],
  ".ts": typescript,
  ".mts": typescript,
  ".cts": typescript,
  ".sh": ["bash"],
  ".bash": ["bash"],
  ".rb": ["ruby"],
  ".pl": ["perl"],
  ".php": ["php"]
}

const interpretersOf = (path: string): ReadonlyArray<string> | undefined => {
  const extension = Path.extname(path).toLowerCase()
  return Object.hasOwn(byExtension, extension) && !/\.d\.[mc]?ts$/i.test(path) ? byExtension[extension] : undefined
}

/** Tests whether the extension of a file tells what runs it. */
export const isKnown = (path: string): boolean => interpretersOf(path) !== undefined

/**
 * Tests whether a file is a program by itself, by the bytes that it begins with: ELF, or one of the formats of macOS.
 */
export const isBinary = (head: Uint8Array): boolean =>
  ["7f454c46", "cffaedfe", "cefaedfe", "cafebabe"].includes(Buffer.from(head.subarray(0, 4)).toString("hex"))

/** The most bytes of a first line that are read, as by Linux. */
const longestLine = 256

/**
 * Returns the program that a file of a skill runs as, with words that are passed as they are.
 *
 * @param real the real path of the skill's directory
 */
export const programOf = (path: string, real: string, args: ReadonlyArray<string>): Program => {
  const head = Either.match(SkillFile.read(path, real, longestLine), {
    onLeft: () => Buffer.alloc(0),
    onRight: ({ bytes }) => bytes
  })
  const first = shebang(head.toString().split(/\r?\n/, 1)[0] ?? "")
  if (first !== undefined) return { names: first.names, args: [...first.args, path, ...args], file: path }
  const names = interpretersOf(path)
  return names === undefined ? { names: [path], args } : { names, args: [path, ...args], file: path }
}

/**
 * Reads a line that names an interpreter, as the system does: the rest of it is one word. `env` itself is passed over,
 * so that who is told that a program is missing is told of this one.
 */
export const shebang = (line: string): Program | undefined => {
  const [, interpreter, rest = ""] = /^#![ \t]*([^ \t\0]+)(?:[ \t]+([^\0]*?))?[ \t\r]*$/.exec(line) ?? []
  if (interpreter === undefined) return undefined
  if (Path.basename(interpreter) === "env" && /^\w[\w.+-]*$/.test(rest)) {
    return { names: rest === "python" ? ["python", "python3"] : [rest], args: [] }
  }
  return { names: [interpreter], args: rest === "" ? [] : [rest] }
}
