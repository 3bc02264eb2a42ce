/**
 * Keeps the masks of a running sandbox in place: checks them before a command, and watches directories in between. The
 * host replaces files by renaming, which removes their masks, and creates files that rules name.
 *
 * The watched directories are those that hold masked files, the nearest that exist for rules without wildcards, and the
 * sandbox's own. A file that a glob names and that appears elsewhere is found by the next scan.
 *
 * @since 0.1.0
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import { ExecutionFailed } from "../../../../domain/CommandError.js"
import * as BytePath from "../../../policy/BytePath.js"
import { isWithin } from "../../../policy/HostPath.js"
import * as PathRule from "../../../policy/PathRule.js"
import type { Rule, SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import type { Mask, MaskWatch, WatchOptions } from "../../SandboxPlatform.js"
import * as MaskFold from "../plan/MaskFold.js"
import * as Masks from "../plan/Masks.js"
import { realPath } from "../plan/WriteRoots.js"
import * as DirectoryWatch from "./DirectoryWatch.js"
import type { LiveNamespace } from "./LiveNamespace.js"

const nearest = (path: string): string | undefined => {
  for (let at = Path.dirname(path); ; at = Path.dirname(at)) {
    const real = realPath(at)
    if (real !== undefined || at === "/") return real
  }
}

/** Returns undefined for what is gone, or can't be looked at. */
const lookAt = (path: string): Fs.Stats | undefined => {
  try {
    return Fs.lstatSync(BytePath.toHost(path), { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/**
 * The paths whose change may remove a mask or need one: those of masks and of rules without wildcards, and the directories
 * on the way to them. A command writes many other files, and a look at the mount table for each costs more than the file.
 */
class Places {
  private readonly paths = new Set<string>()

  constructor(policy: SandboxPolicy, masks: Iterable<string>) {
    for (const rule of policy.blacklist) if (rule.kind === "path") this.addRule(rule)
    for (const mask of masks) this.add(mask)
  }

  addRule({ path, real = path }: Rule): void {
    for (const one of [path, real]) {
      this.add(one)
      this.addMissing(one)
    }
  }

  add(path: string): void {
    for (let at = path; !this.paths.has(at) && at !== "/"; at = Path.dirname(at)) this.paths.add(at)
  }

  /** Tests whether an event in a watched directory concerns one of them; the name is its own where it is moved itself. */
  concern(directory: string, name: string): boolean {
    return this.paths.has(Path.join(directory, name)) || name === Path.basename(directory)
  }

  /** Adds the first part of a path that does not exist, by the real path of the directory where it would be made. */
  private addMissing(path: string): void {
    for (let at = path; at !== "/"; at = Path.dirname(at)) {
      const directory = realPath(Path.dirname(at))
      if (directory === undefined) continue
      this.paths.add(Path.join(directory, Path.basename(at)))
      return
    }
  }
}

/**
 * Watches over masks until the scope ends.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: {
  readonly door: LiveNamespace
  readonly policy: SandboxPolicy
  readonly masks: ReadonlyArray<Mask>
  /** Returns the directories that can be written; none by default. */
  readonly roots?: () => ReadonlyArray<string>
  /** The paths without which no command can run (`MaskFold`). */
  readonly vital?: ReadonlyArray<string>
  /** Returns the rules for the places that dangling links lead to, as the last scan found them. */
  readonly awaited?: () => ReadonlyArray<Rule>
  readonly watcher?: DirectoryWatch.Watcher
  readonly isGranted?: WatchOptions["isGranted"]
  readonly exclusive?: WatchOptions["exclusive"]
  readonly onMasked?: WatchOptions["onMasked"]
}): Effect.Effect<MaskWatch, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { awaited = () => [], door, exclusive = (change) => change, isGranted = () => false, policy } = options
    const { onMasked = () => {}, roots = () => [], vital = [policy.cwd] } = options
    const known = new Map(options.masks.map((mask) => [mask.path, mask]))
    const granted = PathRule.make(policy.granted ?? [])
    const matcher = PathRule.make(policy.blacklist)
    /** The masks since whose mounting nobody has looked for processes that hold them open. */
    const fresh = new Map<string, Mask>()
    const events = yield* Queue.sliding<void>(1)

    const places = new Places(policy, known.keys())

    const add = (mask: Mask) => {
      if (known.has(mask.path) || granted.find(mask.path) !== undefined) return
      known.set(mask.path, mask)
      places.add(mask.path)
    }
    const see = (directory: string, name: string | null) => {
      const path = name === null ? undefined : Path.join(directory, name)
      const rule = name === null ? undefined : matcher.findEntry(directory, name)
      const at = path === undefined || rule === undefined ? undefined : lookAt(path)
      if (path !== undefined && rule !== undefined && at !== undefined && !at.isSymbolicLink()) {
        add({ path, kind: at.isDirectory() ? "directory" : "file", rule })
      }
      if (name === null || rule !== undefined || places.concern(directory, name)) Queue.unsafeOffer(events, undefined)
    }

    const lost = Effect.try({
      try: () => {
        const missing = door.lost([...known.values()]).filter(({ path }) => !isGranted(path))
        return MaskFold.fold(missing, roots(), vital)
      },
      catch: (error) =>
        new ExecutionFailed({ kind: "sandbox", reason: error instanceof Error ? error.message : String(error) })
    })
    /** Keeps directories that are masked whole in the place of what is in them. */
    const gather = (masks: ReadonlyArray<Mask>) => {
      const whole = masks.filter(({ reason }) => reason === MaskFold.crowded)
      if (whole.length === 0) return
      for (const path of known.keys()) if (whole.some((one) => isWithin(path, one.path))) known.delete(path)
      for (const mask of whole) add(mask)
    }
    const refresh = Effect.suspend(() => {
      for (const mask of Masks.literals([...policy.blacklist, ...awaited()], roots())) add(mask)
      const mask = Effect.flatMap(lost, (missing) =>
        Effect.map(door.addMasks(missing), () => {
          gather(missing)
          // What is masked because it can't be searched is not what a rule names.
          for (const mask of missing) if (mask.reason === undefined) fresh.set(mask.path, mask)
          if (fresh.size > 0) onMasked()
        })
      )
      return Effect.flatMap(lost, (missing) => (missing.length === 0 ? Effect.void : exclusive(mask)))
    })

    const evict = (before?: number) =>
      Effect.suspend(() => {
        const masks = [...fresh.values()].filter(({ path }) => !isGranted(path))
        if (before === undefined) fresh.clear()
        return masks.length === 0 ? Effect.succeed([]) : door.evict(masks, before)
      })

    const literal = policy.blacklist.flatMap((rule) => (rule.kind === "path" ? [rule.real ?? rule.path] : []))
    const watch = yield* DirectoryWatch.make(see, options.watcher)
    watch.add(policy.cwd)
    for (const path of literal) for (const directory of [nearest(path) ?? []].flat()) watch.add(directory)
    // Masks have real paths, so their directories are real ones too.
    for (const path of known.keys()) watch.add(Path.dirname(path))
    // The fiber that starts a sandbox may be uninterruptible; this one has to end with the scope.
    yield* Effect.forkScoped(
      Effect.interruptible(Effect.forever(Effect.zipRight(Queue.take(events), Effect.ignore(refresh))))
    )
    return {
      refresh,
      evict,
      isEvictionDue: () => fresh.size > 0,
      masks: () => [...known.values()],
      learn: (found) =>
        Effect.suspend(() => {
          for (const mask of found) {
            add(mask)
            watch.add(Path.dirname(mask.path))
          }
          for (const rule of awaited()) {
            places.addRule(rule)
            watch.add(nearest(rule.path) ?? "/")
          }
          return refresh
        }),
      isPolling: watch.isPolling
    }
  })
