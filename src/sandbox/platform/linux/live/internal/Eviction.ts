/**
 * Ends the processes of a sandbox that hold open what has been masked since: what its user writes there later would
 * otherwise be theirs to read.
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

/** A process that holds something open, and the mask that it holds it from. */
interface Holder {
  readonly pid: number
  readonly mask: Mask
}

/** The outcome of a look. */
interface Found {
  readonly holders: ReadonlyArray<Holder>
  /** False where a process has ended while it was looked at: it may have handed on what it held. */
  readonly isSure: boolean
}

/** The most things of one process, and of all together, that are looked at. */
const mostOfOne = 20_000
const mostOfAll = 200_000

type Test = (link: string) => Mask | undefined

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/** Numbers a device as `/proc/PID/maps` does. */
const deviceOf = (device: bigint): string => {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & 0xfffff000n)
  const minor = (device & 0xffn) | ((device >> 12n) & 0xffffff00n)
  return [major, minor].map((part) => part.toString(16).padStart(2, "0")).join(":")
}

/** Reads the lines of `maps`, which the first thread has no more once it has ended before the others. */
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
    // It is gone again: nobody fills it in.
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

/** Finds them below the first process of the sandbox. */
const find = (inner: number, masks: ReadonlyArray<Mask>): Found => {
  const [first] = masks
  if (first === undefined) return { holders: [], isSure: true }
  const { ofLink, ofMapping } = targets(masks)
  let left = mostOfAll
  const holdsAt = (link: string): Mask | undefined => {
    try {
      return ofLink(link)
    } catch (error) {
      // Closed meanwhile, or no file at all.
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

/** The most looks for what the shells have started meanwhile, which are not stopped. */
const mostRounds = 5

/** The walks after which the whole sandbox is ended, where its processes can't be stopped. */
const mostWalks = 500

/** Milliseconds between two looks. */
const pause = 2

const { send } = ProcessTable

/**
 * Returns the sandbox's oldest process besides the first, and its children: the supervisor of its shells, and the shells. For a
 * person, `script` is between them, which makes the shell's terminal.
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

/** Matches a set of signals that has SIGSTOP in it: bit 18 of a hexadecimal number. */
const pendingStop = /^(?:Sig|Shd)Pnd:\t[0-9a-f]*[4-7c-f][0-9a-f]{4}$/m

/** Tests whether a process stops before it runs any further. */
const isAboutToStop = (pid: number): boolean =>
  // It has ended.
  Attempt.orElse(() => pendingStop.test(Fs.readFileSync(`/proc/${pid}/status`, "latin1")), true)

/**
 * Stops all processes below the first one, except those that are spared. Returns those that were stopped, which `goOn` must
 * follow for; undefined where new ones begin, or let one another go on, faster than they can be stopped.
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
      // What its user has stopped goes on being so.
      if (state === undefined || /^[TtZX]$/.test(state)) continue
      // One that was not stopped yet may have let it go on.
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

/** The processes that `stopOthers` keeps stopped: one that is about to stop is stopped by `stopAll` once more. */
const held = GlobalValue.globalValue("synapse/Eviction/held", () => new Set<number>())

/** Lets the processes go on that `stopAll` has stopped. */
export const goOn = (stopped: ReadonlySet<number>): void => {
  for (const pid of stopped) if (!held.has(pid)) send(pid, "SIGCONT")
}

/** Milliseconds between two looks at processes that are to stay stopped. */
const relook = 10

/**
 * Stops all processes of a sandbox but the supervisor of its shells and the shells, and keeps them stopped, also where a signal
 * that they have arranged for lets one of them go on. Returns how many there are, and the function that lets them go on;
 * undefined where they can't be stopped.
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
 * Ends them, and returns a sentence for each mask that any of them held something from.
 *
 * @param inner the first process of the sandbox
 * @param before the time, in clock ticks since boot, at which a command has begun that still runs: its processes and the
 *   shells go on, for they may be writing the file
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
      // A process that goes on could hand on what it holds, and end before it is looked at.
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
