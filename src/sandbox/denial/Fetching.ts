/** Finds the program of a command that fetches what it is for from a network. */
import * as CommandLine from "../../bash/CommandLine.js"
import { isLocal } from "./internal/Wording.js"

/**
 * Programs that fetch what they are for: where such a one tried the network in vain, and failed, a model has to know it.
 */
export const programs: ReadonlySet<string> = new Set(
  "apt apt-get bundle cargo composer conda gem git go gradle mvn npm npx pip pip3 pnpm poetry uv yarn".split(" ")
)

/** Programs that reach the address they are given, and may be told to say nothing of it. */
const reaching = new Set(["curl", "wget"])
const address = /^[a-z][a-z\d+.-]*:\/\/(?:[^\s/@]*@)?(\[[\da-f:.]+\]|[^\s/:?#]+)/i

/** What a program fetches for, as its first word. */
const fetches = new Set(
  "add ci clone create download fetch get i info install pull push search show sync update upgrade view".split(" ")
)

/** Matches the texts that may name such a program. */
const mayName = new RegExp(`(?:^|[^\\w.-])(?:${[...programs, ...reaching].join("|")})[ \\t]`)

/** The most characters of a command that are read. */
const mostExamined = 10_000

const wordsOf = (command: string): ReadonlyArray<string> =>
  CommandLine.parse(command).tokens.flatMap((token) => (token._tag === "Word" ? [token.value] : []))

const nameOf = (word: string): string => word.slice(word.lastIndexOf("/") + 1)

/**
 * Returns the host that `curl` or `wget` was to reach, where the command's words name it, and it is not this machine.
 */
export const hostIn = (command: string): string | undefined => {
  const words = wordsOf(command)
  if (!words.some((word) => reaching.has(nameOf(word)))) return undefined
  return words.map((word) => address.exec(word)?.[1]).find((host) => host !== undefined && !isLocal(host))
}

/** Returns the program that is to fetch something: `pip` of `pip install x | tail -n 3; echo done`. */
export const programIn = (command: string): string | undefined => {
  if (command.length > mostExamined || !mayName.test(command)) return undefined
  const words = wordsOf(command)
  const at = words.findIndex((word, at) => programs.has(nameOf(word)) && fetches.has(words[at + 1] ?? ""))
  if (at >= 0) return nameOf(words[at] ?? "")
  return hostIn(command) === undefined ? undefined : words.map(nameOf).find((name) => reaching.has(name))
}
