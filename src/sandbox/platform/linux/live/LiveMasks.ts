/**
 * Maintains the masks of a running sandbox: finds what the blacklist now names, and verifies before the first command
 * that all of it is masked.
 */

import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Attempt from "../../../../domain/Attempt.js"
import type { ExecutionFailed } from "../../../../domain/CommandError.js"
import * as BytePath from "../../../policy/BytePath.js"
import * as DefaultSecrets from "../../../policy/DefaultSecrets.js"
import { GitHeld } from "../../../policy/GitHeld.js"
import { isWithin } from "../../../policy/HostPath.js"
import * as PathRule from "../../../policy/PathRule.js"
import { type Rule, realOf, type SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import type * as SandboxPlatform from "../../SandboxPlatform.js"
import type { Mask, MaskWatch, WatchOptions } from "../../SandboxPlatform.js"
import * as FileWalk from "../plan/FileWalk.js"
import * as Layout from "../plan/Layout.js"
import * as Masks from "../plan/Masks.js"
import * as NoSandbox from "../plan/NoSandbox.js"
import { realPath } from "../plan/WriteRoots.js"
import type { LiveNamespace } from "./LiveNamespace.js"

/** The most directories that are watched, because each takes kernel memory. */
const mostDirectories = 512

/** The pause between two looks, in ms; after a long look, `share` times its duration. */
const pauseMaskWatch = 100
const share = 20

/** How long after a change another one may leave the time of change the same, in ms. */
const unsettled = 100

/**
 * The most changes that are handled in one turn of the event loop. Otherwise, a steady stream of changes would block
 * the loop.
 */
const mostChanges = 1000

/** Watches one directory: `fs.watch`, or a test's replacement. Throws if that is not possible. */
export type Watcher = (
  directory: string,
  see: (name: string | null) => void
) => { readonly close: () => void; readonly on: (event: "error", listener: () => void) => unknown }

const watchByKernel: Watcher = (directory, see) =>
  Fs.watch(BytePath.toHost(directory), { persistent: false, encoding: "buffer" }, (_, name) =>
    see(name === null ? null : BytePath.decode(Buffer.from(name)))
  )

/**
 * Watches directories until the scope ends. Calls `see` with the directory and an entry's name, or with null if any
 * entry may have changed.
 */
export const makeDirectoryWatch = (
  see: (directory: string, name: string | null) => void,
  watch: Watcher = watchByKernel
): Effect.Effect<Watches, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new Watches(see, watch)),
    (watches) => Effect.sync(() => watches.close())
  )

class Watches {
  private readonly watched = new Map<string, ReturnType<Watcher>>()
  /** The directories that are polled, each with the time of change at the last look. */
  private readonly polled = new Map<string, number>()
  private timer: ReturnType<typeof setTimeout> | undefined
  private isClosed = false
  /** The changes in this turn of the event loop. */
  private changes = 0
  /** True once the kernel has refused a watch. */
  private isRefused = false

  constructor(
    private readonly see: (directory: string, name: string | null) => void,
    private readonly watch: Watcher
  ) {}

  /** True if a directory is polled because the kernel refused a watch. */
  isPolling(): boolean {
    return this.isRefused && this.polled.size > 0
  }

  /** Watches another directory, unless it is watched or there are too many. */
  add(directory: string): void {
    if (this.watched.has(directory) || this.polled.has(directory)) return
    if (this.watched.size + this.polled.size >= mostDirectories) return
    if (!this.start(directory)) this.poll(directory)
  }

  private poll(directory: string): void {
    this.polled.set(directory, 0)
    this.schedule(pauseMaskWatch)
  }

  private note(directory: string, name: string | null): void {
    if (this.changes++ === 0) {
      setImmediate(() => {
        this.changes = 0
      })
    }
    const watcher = this.watched.get(directory)
    if (this.changes > mostChanges && watcher !== undefined) {
      watcher.close()
      this.watched.delete(directory)
      this.poll(directory)
    } else this.see(directory, name)
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
    for (const watcher of this.watched.values()) watcher.close()
  }

  private start(directory: string): boolean {
    try {
      const watcher = this.watch(directory, (name) => this.note(directory, name))
      // The directory was removed, or the kernel has given up.
      watcher.on("error", () => {
        watcher.close()
        this.watched.delete(directory)
      })
      this.watched.set(directory, watcher)
      return true
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      // A directory that is gone or inaccessible is left to the next scan.
      const isRefused = code === "ENOSPC" || code === "EMFILE" || code === "ENFILE" || code === "ENOMEM"
      this.isRefused ||= isRefused
      return !isRefused
    }
  }

  private schedule(after: number): void {
    if (this.isClosed) return
    this.timer ??= setTimeout(() => {
      this.timer = undefined
      const began = performance.now()
      for (const directory of [...this.polled.keys()]) this.look(directory)
      if (this.polled.size > 0) this.schedule(Math.max(pauseMaskWatch, share * (performance.now() - began)))
    }, after).unref()
  }

  private look(directory: string): void {
    const isWatched = this.start(directory)
    // The directory is gone, or no descriptors are left: it is tried again later.
    Attempt.ignore(() => {
      const { ctimeMs } = Fs.lstatSync(BytePath.toHost(directory))
      if (ctimeMs !== this.polled.get(directory) || ctimeMs > Date.now() - unsettled) {
        for (const { name } of FileWalk.list(directory) ?? []) this.see(directory, name)
        this.see(directory, null)
      }
      this.polled.set(directory, ctimeMs)
    })
    if (isWatched) this.polled.delete(directory)
  }
}

/** Returns the nearest existing directory among a directory and its ancestors. */
const nearest = (directory: string): string | undefined => {
  for (let at = directory; ; at = Path.dirname(at)) {
    const real = realPath(at)
    if (real !== undefined || at === "/") return real
  }
}

/** Returns undefined if the path is gone or can't be inspected. */
const lookAt = (path: string): Fs.Stats | undefined =>
  Attempt.orUndefined(() => Fs.lstatSync(BytePath.toHost(path), { throwIfNoEntry: false }))

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The state of a sandbox that its watch follows. */
interface Watched {
  readonly namespace: LiveNamespace
  readonly policy: SandboxPolicy
  readonly layout: Pick<Layout.Layout, "kept" | "masks" | "openings" | "vital">
  /** Returns the writable directories. */
  readonly roots: () => ReadonlyArray<string>
  /** Returns rules for the targets of dangling links, from the last scan. */
  readonly awaited: () => ReadonlyArray<Rule>
  /** Returns the masks of files whose content git held at the last scan. */
  readonly held: () => ReadonlyArray<Mask>
}

/** Watches over masks until the scope ends. */
const watchMasks = (
  { awaited, namespace, held, layout, policy, roots }: Watched,
  { exclusive, isGranted, onMasked }: WatchOptions
): Effect.Effect<MaskWatch, never, Scope.Scope> =>
  Effect.gen(function* () {
    const known = new Map(layout.masks.map((mask) => [mask.path, mask]))
    const granted = PathRule.make(policy.granted ?? [])
    const matcher = PathRule.of(policy.blacklist)
    const git = GitHeld.of(policy)
    /** New masks whose holders nobody has looked for yet. */
    const fresh = new Map<string, Mask>()
    const events = yield* Queue.sliding<void>(1)
    const literal = policy.blacklist.filter(({ kind }) => kind === "path")

    /**
     * All names whose change may remove a mask or need one. Commands write many other files, and reading the mount
     * table for each would cost more than the file.
     */
    const names = new Set<string>()
    const concern = (...paths: ReadonlyArray<string>) => {
      for (const name of paths.flatMap((path) => path.split("/"))) names.add(name)
    }
    for (const { path, real = path } of literal) concern(path, real)
    concern(policy.cwd, ...known.keys())

    let isIndexNew = false
    /** Watches the index that decides on a file, because git writes the file before the index. */
    const awaitIndex = (path: string) => {
      const index = git.indexOf(path)
      if (index !== undefined) watch.add(Path.dirname(index))
    }

    /**
     * Tests whether a path is inside a hidden place or is a hidden directory with visible parts, which a mask would
     * cover.
     */
    const isHidden = (path: string) =>
      !Masks.isSeen(path, { replaced: layout.kept?.at ?? [], roots: roots() }) ||
      layout.openings.some(
        ({ granted: shown, mask }) =>
          isWithin(path, mask.path) && !shown.some((one) => path !== one && isWithin(path, one))
      )
    const add = (mask: Mask) => {
      if (known.has(mask.path) || granted.find(mask.path) !== undefined || isHidden(mask.path)) return
      known.set(mask.path, mask)
      concern(mask.path)
      if (PathRule.isForFiles(mask.rule)) awaitIndex(mask.path)
    }
    const see = (directory: string, name: string | null) => {
      const path = name === null ? directory : Path.join(directory, name)
      const at = name === null || matcher.findEntry(directory, name, false) === undefined ? undefined : lookAt(path)
      const rule = name === null ? undefined : matcher.findEntry(directory, name, at?.isDirectory() === true)
      if (name !== null && rule !== undefined) {
        const isHeld = PathRule.isForFiles(rule) && (git.has(path) || DefaultSecrets.isHarmless(rule, path))
        if (at?.isSymbolicLink() === false && !isHeld)
          add({ path, kind: at.isDirectory() ? "directory" : "file", rule })
      }
      if (name === "index") isIndexNew = true
      if (name === null || name === "index" || rule !== undefined || names.has(name))
        Queue.unsafeOffer(events, undefined)
    }

    const lost = Effect.try({
      try: () => {
        const missing = namespace
          .lost([...known.values()])
          .filter(({ path }) => !isGranted(path))
          .map((mask) => Masks.withStandIn(policy, mask))
        for (const mask of missing) known.set(mask.path, mask)
        return Masks.foldMasks(missing, roots(), layout.vital)
      },
      catch: (error) => NoSandbox.because(reasonOf(error))
    })
    /** Lets masks of whole directories replace the masks inside them. */
    const gather = (masks: ReadonlyArray<Mask>) => {
      const whole = masks.filter(({ reason }) => reason === Masks.crowded)
      if (whole.length === 0) return
      for (const path of known.keys()) if (whole.some((one) => isWithin(path, one.path))) known.delete(path)
      for (const mask of whole) add(mask)
    }
    /** Mounts what is known and not in place, and releases what git has come to hold. */
    const renew = Effect.suspend(() => {
      for (const mask of held()) {
        if (!git.has(mask.path)) add(mask)
      }
      const released = isIndexNew
        ? [...known.values()].filter(({ path, rule }) => PathRule.isForFiles(rule) && git.has(path))
        : []
      isIndexNew = false
      const mask = Effect.flatMap(lost, (missing) =>
        Effect.map(namespace.addMasks(missing), () => {
          gather(missing)
          // A directory masked because it can't be searched was not named by a rule.
          for (const mask of missing) if (mask.reason === undefined) fresh.set(mask.path, mask)
          if (fresh.size > 0) onMasked?.()
        })
      )
      for (const { path } of released) known.delete(path)
      const release =
        released.length === 0
          ? Effect.void
          : exclusive(Effect.forEach(released, ({ path }) => Effect.ignore(namespace.unmask(path)), { discard: true }))
      return Effect.zipRight(
        release,
        Effect.flatMap(lost, (missing) => (missing.length === 0 ? Effect.void : exclusive(mask)))
      )
    })
    const refresh = Effect.suspend(() => {
      for (const mask of Masks.literals([...policy.blacklist, ...awaited()], roots())) add(mask)
      return renew
    })

    const watch = yield* makeDirectoryWatch(see)
    watch.add(policy.cwd)
    awaitIndex(Path.join(policy.cwd, "any"))
    const around = new Set(literal.map((rule) => Path.dirname(realOf(rule))))
    for (const directory of around) watch.add(nearest(directory) ?? "/")
    // Masks have real paths, so their parent directories are real paths too.
    for (const path of known.keys()) watch.add(Path.dirname(path))
    // The fiber that starts a sandbox may be uninterruptible, but this one must end with the scope.
    yield* Effect.forkScoped(
      Effect.interruptible(Effect.forever(Effect.zipRight(Queue.take(events), Effect.ignore(refresh))))
    )
    return {
      refresh,
      evict: (before) =>
        Effect.suspend(() => {
          const masks = [...fresh.values()].filter(({ path }) => !isGranted(path))
          if (before === undefined) fresh.clear()
          return masks.length === 0 ? Effect.succeed([]) : namespace.evict(masks, before)
        }),
      isEvictionDue: () => fresh.size > 0,
      masks: () => [...known.values()],
      learn: (found) =>
        Effect.suspend(() => {
          for (const mask of found) {
            add(mask)
            watch.add(Path.dirname(mask.path))
          }
          for (const { path, real = path } of awaited()) {
            concern(path, real)
            watch.add(nearest(Path.dirname(path)) ?? "/")
          }
          return renew
        }),
      isPolling: () => watch.isPolling()
    }
  })

/** The most walks in search of moved files before the start fails. */
const mostRounds = 24

/**
 * How many walks in a row must find everything masked while directories keep changing. A single walk may miss a file
 * that moves to where the walk has just been.
 */
const enough = 8

/** The pause between two walks, in ms, with a random part so that no command can keep in step. */
const pause = 1
const random = 3

/** How far the kernel's clock for changes may lag, in ms. */
const behind = 20

const moved = () =>
  NoSandbox.because(
    "no sandbox: what the blacklist names is being moved while the sandbox starts; try again when it rests"
  )

/**
 * Adds scans to a running sandbox that keep its masks complete. A scan walks the whitelisted directories, and those
 * made writable since the start.
 *
 * @param walked when the walk for the layout began, in ms
 */
export const make = (
  namespace: LiveNamespace,
  policy: SandboxPolicy,
  layout: Layout.Layout,
  walked: number
): LiveNamespace & SandboxPlatform.LiveSandbox => {
  const { cwd, openings, others, roots, session, sessions, unsearched } = layout
  const bound = new Set<string>()
  const opened = new Set(openings.map(({ mask }) => mask.path))
  const granted = PathRule.make(policy.granted ?? [])
  let awaited: ReadonlyArray<Rule> = []
  let held: ReadonlyArray<Mask> = []
  let heads: ReadonlyArray<string> = []
  const search = (since?: number): Effect.Effect<Pick<Masks.Found, "calm" | "masks">, ExecutionFailed> =>
    Effect.suspend(() => {
      const all = [...roots, ...bound]
      const area = {
        roots: all,
        needed: [...all, cwd, session],
        vital: layout.vital,
        hidden: ["/dev", "/proc", sessions, ...others, ...unsearched],
        replaced: layout.kept?.at ?? []
      }
      return Effect.tryPromise({
        try: () => Masks.search(policy, area, since),
        catch: (error) => NoSandbox.because(`the directories could not be searched: ${reasonOf(error)}`)
      })
    }).pipe(
      Effect.map((found) => {
        awaited = found.awaited
        held = found.held
        heads = found.heads
        const masks = found.masks.filter(({ path }) => granted.find(path) === undefined && !opened.has(path))
        return { masks, calm: found.calm }
      })
    )
  return {
    ...namespace,
    addBind: (path, identity) =>
      Effect.tap(namespace.addBind(path, identity), () => {
        bound.add(path)
      }),
    removeBind: (path) =>
      Effect.tap(namespace.removeBind(path), () => {
        bound.delete(path)
      }),
    scan: Effect.map(search(), ({ masks }) => masks),
    heads: () => heads,
    prove: (learn) =>
      Effect.gen(function* () {
        yield* namespace.verify
        const late = Layout.missed(policy, layout)
        if (late !== undefined) {
          return yield* NoSandbox.because(`no sandbox: ${Layout.replaced(late)}`)
        }
        let since = walked
        for (let round = 0, agreeing = 0; round < mostRounds; round++) {
          const began = Date.now()
          const { calm, masks } = yield* search(since - behind)
          const isNew = !namespace.areMounted(masks)
          if (isNew && learn === undefined) return yield* moved()
          const isTaught = learn !== undefined && (isNew || awaited.length > 0)
          if (isTaught) yield* Effect.ignore(learn(masks))
          // Nothing has changed since the last walk began, so it missed nothing.
          if (calm === "still" && (isTaught ? namespace.areMounted(masks) : !isNew)) return
          agreeing = isNew || calm === "moving" ? 0 : agreeing + 1
          if (agreeing === enough) return
          since = began
          yield* Effect.sleep(pause + random * Math.random())
        }
        return yield* moved()
      }),
    watch: (options) =>
      watchMasks(
        { namespace, policy, layout, roots: () => [...roots, ...bound], awaited: () => awaited, held: () => held },
        options
      )
  }
}
