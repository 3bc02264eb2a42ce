/**
 * Finds the processes of a sandbox that hold open what has been masked since: a mask does not reach them.
 *
 * Looked at are the descriptors, the directory, the root, the program and the mappings of each process and thread. One
 * that can't be looked at, or has too much to look at, counts as a holder.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as ProcessFiles from "../../../../session/ProcessFiles.js"
import * as ProcessTable from "../../../../session/ProcessTable.js"
import * as BytePath from "../../../policy/BytePath.js"
import { isWithin } from "../../../policy/HostPath.js"
import type { Mask } from "../../SandboxPlatform.js"

/**
 * A process that holds something open, and the mask that it holds it from.
 *
 * @since 0.1.0
 * @category models
 */
export interface Holder {
  readonly pid: number
  readonly mask: Mask
}

/**
 * The outcome of a look.
 *
 * @since 0.1.0
 * @category models
 */
export interface Found {
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
    try {
      const { dev, ino } = Fs.statSync(BytePath.toHost(mask.path), { bigint: true })
      byIdentity.set(`${dev}:${ino}`, mask)
      byMapping.set(`${deviceOf(dev)} ${ino}`, mask)
    } catch {
      // It is gone again: nobody fills it in.
    }
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

/**
 * Finds them below the first process of the sandbox.
 *
 * @since 0.1.0
 * @category constructors
 */
export const find = (inner: number, masks: ReadonlyArray<Mask>): Found => {
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
    const isThere = ProcessFiles.stat(pid) !== undefined
    if (!isThere) isSure = false
    return mask === undefined || !isThere ? [] : { pid, mask }
  })
  return { holders, isSure }
}

/**
 * Returns the name of a process's program, as it may be shown.
 *
 * @since 0.1.0
 */
export const nameOf = (pid: number): string => {
  try {
    return Fs.readFileSync(`/proc/${pid}/comm`, "latin1").replaceAll(/[^ -~]/g, "") || "a process"
  } catch {
    return "a process"
  }
}
