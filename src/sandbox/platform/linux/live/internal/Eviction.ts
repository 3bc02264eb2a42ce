/**
 * Ends sandboxed processes that hold open what has been masked since: they could otherwise read what the user writes
 * there later.
 */
import * as Fs from "node:fs"
import * as Effect from "effect/Effect"
import * as GlobalValue from "effect/GlobalValue"
import * as Attempt from "../../../../../domain/Attempt.js"
import * as ProcessTable from "../../../../../session/ProcessTable.js"
import * as BytePath from "../../../../policy/BytePath.js"
import { isWithin } from "../../../../policy/HostPath.js"
import * as Name from "../../../../policy/Name.js"
import type { Mask } from "../../../SandboxPlatform.js"

/** A process that holds something open, and the mask that hides it. */
interface Holder {
  readonly pid: number
  readonly mask: Mask
}

interface Found {
  readonly holders: ReadonlyArray<Holder>
  /** False if a process ended while it was examined: it may have handed on what it held. */
  readonly isSure: boolean
}

/** The most open files and mappings that are examined, per process and in total. */
const mostOfOne = 20_000
const mostOfAll = 200_000

type Test = (link: string) => Mask | undefined

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/** Formats a device as `/proc/PID/maps` does. */
const deviceOf = (device: bigint): string => {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xfffff000n)
  const minor = (device & 0xffn) | ((device >> 12n) & 0xffffff00n)
  return [major, minor].map((part) => part.toString(16).padStart(2, "0")).join(":")
}

/** Reads the lines of `maps`. If the first thread has ended before the others, only theirs still have them. */
const mappingsOf = (root: string, threads: ReadonlyArray<string>): ReadonlyArray<string> => {
  for (const thread of threads) {
    const text = Fs.readFileSync(`${root}/task/${thread}/maps`, "utf8")
    if (text !== "") return text.split("\n")
  }
  return []
}

const targets = (masks: ReadonlyArray<Mask>) => {
  const byIdentity = new Map<string, Mask>()
  const byMapping = new Map<string, Mask>()
  for (const mask of masks) {
    // The masked path is gone again, so nobody can fill it.
    Attempt.ignore(() => {
      const { dev, ino } = Fs.statSync(BytePath.toHost(mask.path), { bigint: true })
      byIdentity.set(`${dev}:${ino}`, mask)
      byMapping.set(`${deviceOf(dev)} ${ino}`, mask)
    })
  }
  const directories = masks.filter(({ kind }) => kind === "directory")
  const inDirectory = (path: string) => directories.find((mask) => isWithin(path, mask.path))
  const ofLink: Test = (link) => {
    const { dev, ino } = Fs.statSync(link, { bigint: true })
    return (
      byIdentity.get(`${dev}:${ino}`) ?? (directories.length === 0 ? undefined : inDirectory(BytePath.readLink(link)))
    )
  }
  const ofMapping = (line: string): Mask | undefined => {
    const [, identity = "", path = ""] = /^\S+ \S+ \S+ (\S+ \d+) *(.*)$/.exec(line) ?? []
    return byMapping.get(identity) ?? (path.startsWith("/") ? inDirectory(path) : undefined)
  }
  return { ofLink, ofMapping }
}

/** Finds the holders below the first process of the sandbox. */
const find = (inner: number, masks: ReadonlyArray<Mask>): Found => {
  const [first] = masks
  if (first === undefined) return { holders: [], isSure: true }
  const { ofLink, ofMapping } = targets(masks)
  let left = mostOfAll
  const holdsAt = (link: string): Mask | undefined => {
    try {
      return ofLink(link)
    } catch (error) {
      // It was closed meanwhile, or is not a file.
      return codeOf(error) === "EACCES" || codeOf(error) === "EPERM" ? first : undefined
    }
  }
  const heldBy = (pid: number): Mask | undefined => {
    const root = `/proc/${pid}`
    try {
      let own = mostOfOne
      const threads = Fs.readdirSync(`${root}/task`)
      for (const thread of threads) {
        const place = `${root}/task/${thread}`
        const links = Fs.readdirSync(`${place}/fd`).map((name) => `fd/${name}`)
        own -= links.length
        left -= links.length
        if (own < 0 || left < 0) return first
        for (const name of ["cwd", "root", "exe", ...links]) {
          const mask = holdsAt(`${place}/${name}`)
          if (mask !== undefined) return mask
        }
      }
      const mappings = mappingsOf(root, threads)
      left -= mappings.length
      if (left < 0) return first
      for (const line of mappings) {
        const mask = ofMapping(line)
        if (mask !== undefined) return mask
      }
      return undefined
    } catch (error) {
      return codeOf(error) === "EACCES" || codeOf(error) === "EPERM" ? first : undefined
    }
  }
  let isSure = true
  const holders = ProcessTable.descendants(ProcessTable.list(), inner).flatMap(({ pid }) => {
    const mask = heldBy(pid)
    const isThere = ProcessTable.stat(pid) !== undefined
    if (!isThere) isSure = false
    return mask === undefined || !isThere ? [] : { pid, mask }
  })
  return { holders, isSure }
}

/** How often to look for processes that the shells, which are not stopped, have started meanwhile. */
const mostRounds = 5

/** If processes can't be stopped in this many walks, the whole sandbox is ended. */
const mostWalks = 500

/** The pause between two looks, in ms. */
const pause = 2

const { send } = ProcessTable

/**
 * Returns the sandbox's oldest process besides the first, and its children: the supervisor of its shells, and the
 * shells. In a person's session, `script` is between them, which makes the shell's terminal.
 */
export const shellsOf = (inner: number): ReadonlyArray<number> => {
  const [supervisor] = ProcessTable.mainChildren(inner) ?? []
  if (supervisor === undefined) return []
  const children = ProcessTable.mainChildren(supervisor) ?? []
  const terminals = children.filter((pid) => ProcessTable.nameOf(pid) === "script")
  return [supervisor, ...terminals.flatMap((pid) => ProcessTable.mainChildren(pid) ?? []), ...children]
}

const below = (pid: number): ReadonlyArray<number> =>
  ProcessTable.children(pid).flatMap((child) => [child, ...below(child)])

/** Matches a set of signals with SIGSTOP in it: bit 18 of a hexadecimal number. */
const pendingStop = /^(?:Sig|Shd)Pnd:\t[0-9a-f]*[4-7c-f][0-9a-f]{4}$/m

/** Tests whether a process stops before it runs any further. */
const isAboutToStop = (pid: number): boolean =>
  // The process has ended.
  Attempt.orElse(() => pendingStop.test(Fs.readFileSync(`/proc/${pid}/status`, "latin1")), true)

/**
 * Stops all processes below the first one, except spared ones. Returns those stopped, which must be passed to `goOn`.
 * Undefined if new processes start, or resume one another, faster than they can be stopped.
 */
export const stopAll = (
  inner: number,
  isSpared: (pid: number) => boolean = () => false
): ReadonlySet<number> | undefined => {
  const stopped = new Set<number>()
  for (let walk = 0, calm = 0; walk < mostWalks; walk++) {
    calm++
    for (const pid of below(inner)) {
      if (isSpared(pid)) continue
      const state = ProcessTable.stat(pid)?.state
      // A process that its user has stopped stays so.
      if (state === undefined || /^[TtZX]$/.test(state)) continue
      // A process that was not stopped yet may have resumed it.
      if (stopped.has(pid) && isAboutToStop(pid)) continue
      send(pid, "SIGSTOP")
      stopped.add(pid)
      calm = 0
    }
    if (calm > 2) return stopped
  }
  goOn(stopped)
  return undefined
}

/** The processes that `stopOthers` keeps stopped. If one is about to stop, `stopAll` stops it again. */
const held = GlobalValue.globalValue("synapse/Eviction/held", () => new Set<number>())

/** Resumes the processes that `stopAll` has stopped. */
export const goOn = (stopped: ReadonlySet<number>): void => {
  for (const pid of stopped) if (!held.has(pid)) send(pid, "SIGCONT")
}

/** The pause between two looks at processes that must stay stopped, in ms. */
const relook = 10

/**
 * Stops all processes of a sandbox except the shells and their supervisor, and keeps them stopped even if a signal that
 * they have arranged resumes one. Returns their number and a function that resumes them; undefined if they can't be
 * stopped.
 */
export const stopOthers = (inner: number): { readonly count: number; readonly goOn: () => void } | undefined => {
  const shells = new Set(shellsOf(inner))
  const first = stopAll(inner, (pid) => shells.has(pid))
  if (first === undefined) return undefined
  const stopped = new Set<number>()
  const hold = (pid: number) => {
    stopped.add(pid)
    held.add(pid)
  }
  for (const pid of first) hold(pid)
  const again = () => {
    for (const pid of [...stopped].flatMap((one) => [one, ...below(one)])) {
      const state = ProcessTable.stat(pid)?.state
      if (state === undefined || /^[TtZX]$/.test(state)) continue
      send(pid, "SIGSTOP")
      hold(pid)
    }
  }
  const timer = stopped.size === 0 ? undefined : setInterval(again, relook).unref()
  return {
    count: stopped.size,
    goOn: () => {
      clearInterval(timer)
      for (const pid of stopped) held.delete(pid)
      goOn(stopped)
    }
  }
}

/**
 * Ends the holders, and returns a sentence for each mask that hides something they held.
 *
 * @param inner the first process of the sandbox
 * @param before when the running command began, in clock ticks since boot. Its processes and the shells are spared,
 *   because they may be writing the file
 */
export const evict = (
  inner: number,
  masks: ReadonlyArray<Mask>,
  before?: number
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.uninterruptible(
    Effect.gen(function* () {
      const isSpared = (pid: number, shells: ReadonlyArray<number>): boolean =>
        before !== undefined &&
        (shells.includes(pid) || (ProcessTable.stat(pid)?.started ?? before) >= before - ProcessTable.early)
      const ended = new Map<string, { readonly mask: Mask; readonly names: Set<string> }>()
      const endAll = () => {
        const { holders, isSure } = find(inner, masks)
        const found = holders.filter(({ pid }) => !isSpared(pid, shells))
        for (const { mask, pid } of found) {
          const { names } = ended.get(mask.path) ?? { names: new Set<string>() }
          ended.set(mask.path, { mask, names: names.add(ProcessTable.nameOf(pid) || "a process") })
          send(pid, "SIGKILL")
        }
        return isSure && found.length === 0
      }
      const shells = shellsOf(inner)
      // A process that keeps running could hand on what it holds, and end before it is examined.
      const stopped = stopAll(inner, (pid) => shells.includes(pid) || isSpared(pid, shells))
      if (stopped === undefined) send(inner, "SIGKILL")
      else {
        for (let round = 0; round < mostRounds && !endAll(); round++) yield* Effect.sleep(pause)
        goOn(stopped)
      }
      return [...ended.values()].map(({ mask, names }) => {
        const [name = "", ...others] = names
        const who = others.length === 0 ? Name.of(name) : `${Name.of(name)} and others`
        return `${who} held ${Name.of(mask.path)} open, which the blacklist denies, and ${others.length === 0 ? "was" : "were"} ended (rule ${Name.ofEntry(mask.rule.pattern)}).`
      })
    })
  )
