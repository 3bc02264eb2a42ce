/**
 * Verifies whether a name in a message stands for something that the policy denies.
 */
import * as Path from "node:path"
import type { CommandLine } from "../../../bash/CommandLine.js"
import type { Mask } from "../../platform/SandboxPlatform.js"
import * as HostPath from "../../policy/HostPath.js"
import { describeSource, type PolicyDecision } from "../../policy/PolicyDecision.js"
import * as RealPath from "../../policy/RealPath.js"
import * as CommandWords from "../CommandWords.js"
import * as Denial from "../Denial.js"
import * as Explanation from "../Explanation.js"
import type { KernelRefusal, Mention } from "./Message.js"

/** The command, and the directories and masks that it ran with. */
export interface CommandPlaces {
  /** The command, whose words help to recognise names in messages. */
  readonly command: CommandLine
  /** The directories for relative names. */
  readonly directories: ReadonlyArray<string>
  readonly masks: ReadonlyArray<Mask>
}

/** Looks up the names in one command's messages. */
export type Verify = ReturnType<typeof make>

export interface Options {
  /** True if the system answers every denial with the same error (EPERM), as macOS does. */
  readonly oneRefusal?: boolean
  /** The directory that the sandbox is for. */
  readonly cwd?: string
  /** The allowed paths, which the sandbox has mounted. */
  readonly mounts?: ReadonlySet<string>
}

/** Tests whether a path is missing and only the rights to its existing directory prevent its creation. */
const isUnmade = (path: string): boolean =>
  path.startsWith("/") &&
  !HostPath.isTooLong(path) &&
  HostPath.isMissing(path) &&
  HostPath.isDirectory(Path.posix.dirname(path))

/** Matches words that precede a message in the position of a program's or a file's name. */
const severity = /^(?:abort(?:ed|ing)?|err|error|fail(?:ed|ure)?|fatal|info|note|panic|warning)$/i

/** Matches names of temporary files, of which one replaces a file in the same directory. */
const temporary = /\/(?:sed[A-Za-z0-9]{6}|[^/]*X{3,}[^/]*)$/

/** Makes the lookup for a command that has run. */
export const make = (
  { decide, explain, held }: PolicyDecision,
  { command, directories, masks }: CommandPlaces,
  { cwd = "/", mounts = new Set(), oneRefusal = process.platform === "darwin" }: Options = {}
) => {
  const maskAt = new Map(masks.map((mask) => [mask.path, mask]))

  const absolute = (path: string): ReadonlyArray<string> => {
    if (HostPath.isTooLong(path)) return []
    if (path.startsWith("/")) return [path]
    // The command may have removed the directory, which then leads nowhere.
    return directories.map((directory) =>
      HostPath.isMissing(directory) ? Path.posix.join(directory, path) : `${directory}/${path}`
    )
  }

  let written: ReadonlySet<string> | undefined
  const isWritten = (path: string): boolean => {
    written ??= new Set(CommandWords.all(command))
    return written.has(path)
  }

  /** Tests whether blanks belong to the names of existing directories on the path, rather than to the sentence. */
  const isInSpaced = (path: string): boolean =>
    path.startsWith("/") &&
    /\s[^/]*\//.test(path) &&
    !HostPath.isTooLong(path) &&
    HostPath.isDirectory(Path.posix.dirname(path))

  /** Leaves out paths that are only other paths cut at a blank. */
  const withoutCut = (mentions: ReadonlyArray<Mention>): ReadonlyArray<Mention> => {
    const spaced = mentions.filter(({ path }) => path.includes(" ") && (isThere(path) || isInSpaced(path)))
    const isCut = ({ path }: Mention) =>
      spaced.some(
        (whole) =>
          whole.path.startsWith(`${path} `) && (isThere(whole.path) || whole.path.slice(path.length).includes("/"))
      )
    return spaced.length === 0 ? mentions : mentions.filter((mention) => !isCut(mention))
  }

  /** Tests whether a mention means a file even if no such file exists, rather than words of the sentence. */
  const isNamed = ({ form, path, sure }: Mention): boolean => {
    if (!/[\p{L}\p{N}]/u.test(path)) return false
    if (form === "quoted" || isWritten(path)) return sure || form !== undefined
    if (sure) return (!/\s/.test(path) || isInSpaced(path)) && !severity.test(path)
    return form === "last" && (/^[^\s:]+\.\w+$|\/sed\w{6}$/.test(path) || (path.includes("/") && isThere(path)))
  }

  const isThere = (path: string): boolean => absolute(path).some((each) => !HostPath.isMissing(each))

  const maskOver = (real: string): Mask | undefined => {
    for (let path = real; path !== "/"; path = Path.posix.dirname(path)) {
      const mask = maskAt.get(path)
      if (mask !== undefined) return mask
    }
    return undefined
  }

  let byRulesAlone = oneRefusal
  let ofDirectory = false
  const blacklisted = (path: string, write: boolean): Denial.Denial | undefined => {
    const verdict = explain(path, "/", "read")
    const { real } = verdict
    const mask = maskOver(real)
    // A stand-in can be read, so only a write was refused.
    const access = write || (mask?.standIn !== undefined && !byRulesAlone) ? "write" : "read"
    if (!verdict.allowed) {
      // Nothing hides the file from commands, so the message is not about the sandbox.
      const isOpen = mask === undefined && !byRulesAlone && !HostPath.isMissing(real)
      return isOpen ? undefined : Denial.make(verdict, real, access, "verified-text")
    }
    // A hard link, or the same files mounted elsewhere: no rule covers this name.
    if (mask === undefined) return undefined
    const why = mask.reason ?? "the same as what the rule names, under another name"
    return Denial.make({ rule: mask.rule, reason: why }, real, access, "verified-text")
  }

  const pinned = (path: string): Denial.Denial | undefined => {
    const { real } = RealPath.follow(path)
    if (mounts.has(real)) return Denial.mounted(real)
    const mask = masks.find((mask) => mask.path.startsWith(`${real}/`))
    if (mask !== undefined) {
      const reason = `it holds ${mask.path}, which is blacklisted, and can be neither moved nor removed`
      return Denial.make({ rule: mask.rule, reason }, real, "write", "verified-text")
    }
    const mount = [...mounts].find((path) => HostPath.isWithin(path, real))
    if (mount !== undefined) return Denial.mounted(mount)
    const found = held(real)
    if (found === undefined || HostPath.isMissing(found.path)) return undefined
    const of = describeSource(found.rule.source)
    const reason =
      found.path === real
        ? `it can be neither written, moved nor removed (${of})`
        : `it holds ${found.path} (${of}), and can be neither moved nor removed`
    return Denial.make({ rule: found.rule, reason }, real, "write", "verified-text")
  }

  /** Returns the word of `rm` that a path is removed by, as a real path: the path itself, or a directory around it. */
  const removedAs = (path: string): string =>
    CommandWords.invocations(command)
      .flatMap(([name, ...words]) => (name === "rm" ? words : []))
      .flatMap(absolute)
      .map((word) => RealPath.follow(word).real)
      .find((word) => HostPath.isWithin(path, word)) ?? path

  /** Returns the files in a directory that the command names. */
  const namedIn = (directory: string): ReadonlyArray<string> =>
    CommandWords.all(command)
      .map((word) => `${directory}/${Path.posix.basename(word)}`)
      .filter((path) => !HostPath.isTooLong(path) && !HostPath.isMissing(path))

  /** Finds the denial of a write to a path, or to its directory. */
  const unwritable = (path: string): Denial.Denial | undefined => {
    const { real: written } = RealPath.follow(path)
    const above = Path.posix.dirname(written)
    const isTemporary = temporary.test(path)
    const entries = isTemporary ? namedIn(above) : ofDirectory ? [removedAs(written), written] : []
    const mounted = entries.find((each) => mounts.has(each))
    if (mounted !== undefined) return Denial.mounted(mounted)
    const [named = isTemporary ? above : written] = entries
    const places = entries.length > 0 ? entries.map((each) => Path.posix.dirname(each)) : [named]
    const real = places.find((each) => !decide(each, "write").allowed) ?? places[0] ?? named
    if (!HostPath.isWritable(real)) return undefined
    const verdict = decide(real, "write")
    if (!verdict.allowed && (isTemporary || entries.length > 0)) {
      return Explanation.isWide(real, cwd)
        ? { ...Denial.make(verdict, named, "write", "verified-text"), next: "Ask the user to do it." }
        : {
            ...Denial.make(verdict, real, "write", "verified-text"),
            ...(entries.length > 0 && { isOfEntry: true })
          }
    }
    if (!verdict.allowed) return Denial.make(verdict, real, "write", "verified-text")
    const { path: given = "/", real: whole = given } = verdict.rule ?? {}
    return HostPath.isMissing(whole) ? Denial.unmade(whole) : undefined
  }

  const anywhere = (from: ReadonlyArray<Mention>, look: (path: string) => Denial.Denial | undefined) =>
    first(from, ({ path }) => first(absolute(path), look))

  /** Of several readings of a name, the existing one is meant. Uncertain names count only if they exist. */
  const byRule = (from: ReadonlyArray<Mention>, write: boolean) =>
    anywhere(from, (path) => (HostPath.isMissing(path) ? undefined : blacklisted(path, write)))

  return {
    /**
     * Finds the denial that the names in a message stand for. With `byRules`, an agent command refused it by the rules.
     * The kernel itself only refuses what the masks hide. With `isRemoval`, a name was to be removed from its directory.
     */
    denial(
      all: ReadonlyArray<Mention>,
      refusal: KernelRefusal,
      write: boolean,
      { byRules = false, isRemoval = false } = {}
    ): Denial.Denial | undefined {
      byRulesAlone = oneRefusal || byRules
      ofDirectory = isRemoval
      const mentions = withoutCut(all)
      const sure = mentions.filter((mention) => mention.sure)
      const unsure = mentions.filter((mention) => !mention.sure)
      const named = mentions.filter((mention) => isNamed(mention) || (mention.sure && isThere(mention.path)))
      return (
        byRule(sure, write) ??
        anywhere(named, (path) => blacklisted(path, write)) ??
        (refusal === "busy" ? anywhere(mentions, pinned) : undefined) ??
        (refusal === "readonly" || (oneRefusal && write) ? anywhere(named, unwritable) : undefined) ??
        (refusal === "unopened"
          ? anywhere(
              sure.filter(({ path }) => isUnmade(path)),
              unwritable
            )
          : undefined) ??
        byRule(unsure, write)
      )
    },
    /**
     * Tests whether a name is missing although a program was refused it, from where the command may have removed it,
     * such as a link to the file that was refused.
     */
    isRemoved(mentions: ReadonlyArray<Mention>, refusal: KernelRefusal): boolean {
      return (
        (refusal === "access" || refusal === "readonly") &&
        mentions.some(
          ({ path, sure }) =>
            sure &&
            (path.startsWith("/") || isWritten(path)) &&
            !isThere(path) &&
            absolute(path).some((each) => decide(RealPath.follow(each).real, "write").allowed)
        )
      )
    },
    /**
     * Tests whether one of the names exists, or could not be created in an existing directory, so that no other name
     * needs to be found.
     */
    explains(mentions: ReadonlyArray<Mention>, refusal: KernelRefusal): boolean {
      const found = first(mentions, ({ path, sure }) => {
        if (refusal === "readonly" && sure && isUnmade(path)) return path
        const there = absolute(path).find((each) => !HostPath.isMissing(each))
        const isMeant = there !== undefined && (sure ? !/^[./]*$/.test(path) : !HostPath.isDirectory(there))
        return isMeant ? there : undefined
      })
      return found !== undefined
    }
  }
}

const first = <A, B>(list: ReadonlyArray<A>, look: (each: A) => B | undefined): B | undefined => {
  for (const each of list) {
    const found = look(each)
    if (found !== undefined) return found
  }
  return undefined
}
