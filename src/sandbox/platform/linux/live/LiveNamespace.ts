/**
 * Changes the mounts of a running sandbox from outside. They appear in the sandbox, and its shell is not disturbed.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Attempt from "../../../../domain/Attempt.js"
import type { ExecutionFailed } from "../../../../domain/CommandError.js"
import * as Directories from "../../../../files/Directories.js"
import * as Listeners from "../../../../session/Listeners.js"
import * as ProcessTable from "../../../../session/ProcessTable.js"
import * as BytePath from "../../../policy/BytePath.js"
import * as HostPath from "../../../policy/HostPath.js"
import type { SandboxPolicy } from "../../../policy/SandboxPolicy.js"
import * as NetworkMeter from "../../NetworkMeter.js"
import type { LiveSandbox, Mask } from "../../SandboxPlatform.js"
import type * as TemporaryDirectory from "../../TemporaryDirectory.js"
import * as Probe from "../check/Probe.js"
import * as Layout from "../plan/Layout.js"
import * as Masks from "../plan/Masks.js"
import * as MountTable from "../plan/MountTable.js"
import * as NoSandbox from "../plan/NoSandbox.js"
import * as Plan from "../plan/Plan.js"
import { realPath } from "../plan/WriteRoots.js"
import type { Level } from "../start/Launch.js"
import type { Programs } from "../start/Programs.js"
import * as Eviction from "./internal/Eviction.js"

type Table = ReadonlyArray<MountTable.Mount>

interface Options {
  /** The first process of the sandbox. */
  readonly inner: number
  /** The beginning of an error message. */
  readonly what: string
  /** The real path that the change is about. */
  readonly path: string
  /** Other places where the sandbox sees the path, or the path's place in the sandbox's own `/tmp`. */
  readonly seenAt?: ReadonlyArray<string>
  /** The identity (`HostPath.identityOf`) that the path must have; if undefined, any. */
  readonly identity?: string | undefined
  /** A private mount point of this process, through which binds are made. */
  readonly stage: string
  /** Returns the current mounts of the sandbox. */
  readonly mounts: () => Table
  /** Tests whether a mount is a mask. */
  readonly isMask: (mount: MountTable.Mount) => boolean
  /** The file system of the path, from this process's own mounts; undefined if nothing is to be mounted. */
  readonly source?: Pick<MountTable.Mount, "device" | "root"> | undefined
}

const fail = NoSandbox.because

const { isWithin } = HostPath

const keyOf = ({ device, point, root }: MountTable.Mount): string => `${device} ${root} ${point}`

/** Tests whether a change has removed masks elsewhere, mounted anything elsewhere, or mounted the wrong thing. */
const isStray = (before: Table, after: Table, { isMask, path, seenAt = [], source, stage }: Options): boolean => {
  const places = [path, ...seenAt]
  // A mask at the path lies on its stage too.
  const isMeant = ({ point }: MountTable.Mount) => [...places, stage].some((place) => isWithin(point, place))
  const masked = new Set(after.filter(isMask).map(({ point }) => point))
  if (before.some((mount) => isMask(mount) && !isMeant(mount) && !masked.has(mount.point))) return true
  const known = new Set(before.map(keyOf))
  return after.some((mount) => {
    if (known.has(keyOf(mount)) || isWithin(mount.point, stage)) return false
    if (!isMeant(mount)) return true
    if (!places.includes(mount.point) || isMask(mount)) return false
    return source === undefined || mount.device !== source.device || mount.root !== source.root
  })
}

export const run = (
  change: Effect.Effect<void, ExecutionFailed>,
  options: Options
): Effect.Effect<void, ExecutionFailed> =>
  Effect.uninterruptible(
    Effect.suspend(() => {
      const { identity, inner, mounts, path, what } = options
      const stopped = Eviction.stopAll(inner)
      if (stopped === undefined) return fail(`${what}: the processes of the sandbox can't be stopped for it`)
      return Effect.gen(function* () {
        if (realPath(path) !== path) return yield* fail(`${what}: it is not there, or a link`)
        if (identity !== undefined && HostPath.identityOf(path) !== identity)
          return yield* fail(`${what}: something else is there by now`)
        const before = mounts()
        const changed: Either.Either<void, ExecutionFailed> = yield* Effect.either(change)
        if (isStray(before, mounts(), options)) {
          ProcessTable.send(inner, "SIGKILL")
          return yield* fail(`${what}: it was replaced meanwhile, and the sandbox was ended`)
        }
        return yield* changed
      }).pipe(Effect.ensuring(Effect.sync(() => Eviction.goOn(stopped))))
    })
  )

/** Tests whether a process runs under a seccomp filter and can't gain privileges. */
const isConfined = (pid: number): boolean =>
  // The process has ended.
  Attempt.orElse(() => {
    const status = Fs.readFileSync(`/proc/${pid}/status`, "latin1")
    return /^Seccomp:\s*2$/m.test(status) && /^NoNewPrivs:\s*1$/m.test(status)
  }, true)

/** Finds the first process in a sandbox: the descendant of the spawned process with a PID namespace of its own. */
const find = (pid: number): number | undefined => {
  const isInside = (one: number) => ProcessTable.namespacePids(one).length > 1
  return ProcessTable.mainChildren(pid)?.find(isInside) ?? ProcessTable.below(pid).find(isInside)
}

/** Tests whether the first process in the sandbox and all its children are confined. */
const isHeld = (inner: number): boolean => [inner, ...(ProcessTable.mainChildren(inner) ?? [])].every(isConfined)

/**
 * Returns the identity (`HostPath.identityOf`) of the first shell's directory before any command has run; undefined if
 * it can't be seen.
 */
const shellDirectory = (inner: number): string | undefined => {
  const [supervisor = inner, shell = supervisor] = Eviction.shellsOf(inner)
  return HostPath.identityAt(`/proc/${shell}/cwd`)
}

/**
 * Tests whether the first process in the sandbox has ended, or has left its mounts, which happens while it ends. All
 * other processes end with it.
 */
const hasEnded = (inner: number): boolean => {
  if (ProcessTable.stat(inner) === undefined) return true
  try {
    Fs.readlinkSync(`/proc/${inner}/ns/mnt`)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT"
  }
}

/**
 * Returns the first path with an unplanned mount or an unplanned writable mount; undefined if everything is as planned.
 *
 * @param hidden the directories that the sandbox does not see, and mounts in them
 * @param outside the mounts outside of the sandbox
 * @param inside the mounts in the sandbox
 */
export const strayWritableMounts = (
  { isReadOnly, kept, roots: given, toolCache }: Pick<Layout.Layout, "isReadOnly" | "kept" | "roots" | "toolCache">,
  hidden: ReadonlyArray<string>,
  outside: ReadonlyArray<MountTable.Mount>,
  inside: ReadonlyArray<MountTable.Mount>
): string | undefined => {
  const places = kept === undefined ? [] : [kept.path, ...kept.at]
  const roots = [...given, toolCache, ...places].filter((path) => path !== undefined)
  const devices = new Set<string>()
  for (const root of roots) {
    const expected = MountTable.sourceOf(outside, kept !== undefined && places.includes(root) ? kept.path : root)
    const found = inside.findLast(({ point }) => point === root)
    if (expected === undefined || found?.device !== expected.device || found.root !== expected.root) return root
    devices.add(expected.device)
  }
  // Mounts that can't be remounted read-only, as on some network file systems, do not count.
  return inside.find(
    ({ device, isWritable, point }) =>
      isWritable &&
      devices.has(device) &&
      !hidden.some((directory) => HostPath.isWithin(point, directory)) &&
      (isReadOnly || !roots.some((root) => HostPath.isWithin(point, root)))
  )?.point
}

/**
 * The mounts of a running sandbox. A change takes a few ms. If it is not possible, it fails with ExecutionFailed (kind
 * `sandbox`), and a new sandbox is needed.
 */
export interface LiveNamespace extends Omit<LiveSandbox, "heads" | "prove" | "scan" | "watch"> {
  readonly isMounted: (path: string) => boolean
  /** Tests whether all of the masks are mounted. Reads one file. */
  readonly areMounted: (masks: ReadonlyArray<Mask>) => boolean
  /** Fails if the processes inside are not confined by a sandbox, or can write where they should not. */
  readonly verify: Effect.Effect<void, ExecutionFailed>
  /** Removes a mask. Fails if it is not mounted. */
  readonly unmask: (path: string) => Effect.Effect<void, ExecutionFailed>
  /** Ends the processes that hold open what the masks now hide (`Eviction`). */
  readonly evict: (masks: ReadonlyArray<Mask>, before?: number) => Effect.Effect<ReadonlyArray<string>>
}

const kindOf = (path: string): Mask["kind"] =>
  Fs.statSync(BytePath.toHost(path), { throwIfNoEntry: false })?.isDirectory() === true ? "directory" : "file"

/**
 * How long to wait for the filter, in ms. bubblewrap starts the supervisor before it confines its own process inside,
 * which a busy machine may delay.
 */
const confining = 250

/** How often masks are mounted again after other programs displaced them. */
const mostTries = 5

/** The most paths that an error names. */
const mostNamed = 3

/**
 * Connects to the sandbox that was spawned as `pid`. Its mounts exist once its supervisor has reported or its shell has
 * written output.
 */
export const make = (options: {
  readonly pid: number
  readonly level: Level
  readonly layout: Layout.Layout
  readonly plan: Plan.PlanDirectory
  readonly programs: Programs
  readonly policy: Pick<SandboxPolicy, "blacklist">
  /** The directory that replaces `/tmp`. */
  readonly temporary?: TemporaryDirectory.Held | undefined
}): LiveNamespace => {
  const { layout, level, pid, plan, policy, programs, temporary } = options
  const { mount, nsenter } = programs
  let inner: number | undefined
  let guarded = layout.masks.length > 0
  let tables = 0

  const placeholder = new RegExp(`/${Path.basename(plan.path)}/placeholders/(?:file(?:-\\w+)?|directory)$`)
  let listeners: Listeners.Watch | undefined
  const first = () => {
    inner ??= find(pid)
    return inner
  }
  const mounts = () => {
    const inner = first()
    return inner === undefined ? [] : MountTable.read(inner)
  }
  const maskedIn = (table: ReadonlyArray<MountTable.Mount>) =>
    new Set(table.filter(({ root }) => placeholder.test(root)).map(({ point }) => point))
  const masked = () => maskedIn(mounts())

  const enter = (what: string, program: string | undefined, args: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      if (level === "single" || nsenter === undefined || program === undefined) {
        return yield* fail(`${what}: this sandbox can't be changed while it runs`)
      }
      const namespaces = level === "user" ? ["--user", "--preserve-credentials", "--mount"] : ["--mount"]
      const ended = yield* Probe.run(nsenter, ["--target", String(pid), ...namespaces, "--", program, ...args])
      if (!ended.ok) return yield* fail(`${what}: ${ended.said.trim()}`)
    })

  const mountAll = (what: string, table: string) =>
    Effect.suspend(() => {
      const path = Path.join(plan.path, `table-${++tables}`)
      try {
        Fs.writeFileSync(path, BytePath.encode(table), { mode: 0o600 })
      } catch (error) {
        return fail(`${what}: ${String(error)}`)
      }
      return Effect.ensuring(
        enter(what, mount, ["-c", "-a", "-T", path]),
        Effect.sync(() => Fs.rmSync(path, { force: true }))
      )
    })

  const stage = (path: string) => Path.join(plan.path, `bind-${BytePath.encode(path).toString("hex").slice(-200)}`)

  /** Tests whether a path is masked or inside a masked directory, where no mask can be mounted and none is needed. */
  const isHidden = (points: ReadonlySet<string>, path: string): boolean => {
    for (let at = path; at !== "/"; at = Path.dirname(at)) if (points.has(at)) return true
    return false
  }

  const lost = <A extends Pick<Mask, "path">>(masks: ReadonlyArray<A>) => {
    const table = mounts()
    // The first process in the sandbox has ended, and all others with it.
    if (inner !== undefined && table.length === 0) return []
    const points = maskedIn(table)
    // A path that is gone, or that now contains a link, needs no mask here.
    return masks.filter((mask) => !isHidden(points, mask.path) && realPath(mask.path) === mask.path)
  }

  const tryMasks = (
    masks: ReadonlyArray<Pick<Mask, "path" | "kind" | "standIn">>,
    tries: number
  ): Effect.Effect<void, ExecutionFailed> =>
    Effect.gen(function* () {
      if (masks.length === 0) return
      const rest = masks.length > mostNamed ? ` and ${masks.length - mostNamed} others` : ""
      const named = masks.slice(0, mostNamed).map((mask) => mask.path)
      const what = `could not mask ${named.join(", ")}${rest}`
      const mounted = yield* Effect.either(mountAll(what, Plan.maskTable(plan, masks, !guarded)))
      guarded = true
      const left = lost(masks)
      if (left.length === 0) return
      // A restart may have ended the sandbox meanwhile. The next one has its own masks.
      if (inner !== undefined && hasEnded(inner)) return
      // A path that was missing during the masking and exists again was recreated meanwhile.
      if (tries > 1) return yield* tryMasks(left, tries - 1)
      return yield* Either.isLeft(mounted) ? mounted.left : fail(what)
    })

  const addMasks: LiveNamespace["addMasks"] = (masks) => tryMasks(masks, mostTries)

  const makeStage = (what: string, path: string) =>
    Effect.try({
      try: () => {
        const directory = stage(path)
        if (Fs.statSync(BytePath.toHost(path)).isDirectory()) Directories.make(directory)
        else Fs.writeFileSync(directory, "")
        return directory
      },
      catch: (error) => fail(`${what}: ${String(error)}`)
    })

  /**
   * Binds a path over itself. The options must be set before the bind reaches the sandbox, so it goes through a stage.
   */
  const bindOver = (what: string, path: string, kind: "bind" | "rbind", options: string, at = path) =>
    Effect.flatMap(makeStage(what, path), (directory) =>
      mountAll(what, Plan.toLine(path, directory, `${kind},${options},nosuid,nodev`) + Plan.toLine(directory, at, kind))
    )

  /** Returns where the sandbox sees a path that its own `/tmp` hides; undefined for other paths. */
  const hiddenAt = (path: string) => {
    const { at = [], path: kept = "" } = layout.kept ?? {}
    const place = at.findLast((one) => path !== one && isWithin(path, one))
    if (place === undefined || [...layout.roots, ...layout.readonly].some((one) => isWithin(path, one)))
      return undefined
    const inside = path.slice(place.length + 1)
    return { inside, seenAt: [kept, ...at].map((one) => `${one}/${inside}`) }
  }

  const isMounted = (path: string) => masked().has(path)

  const areMounted = (masks: ReadonlyArray<Mask>) => {
    if (masks.length === 0) return true
    const points = masked()
    return masks.every(({ path }) => isHidden(points, path))
  }

  const verify = (tries = confining): Effect.Effect<void, ExecutionFailed> => {
    const inner = first()
    if (inner === undefined || !isHeld(inner)) {
      return inner !== undefined && tries > 0
        ? Effect.flatMap(Effect.sleep(1), () => verify(tries - 1))
        : fail("no sandbox: what bubblewrap has started is not held by one; is it the system's own bubblewrap?")
    }
    const hidden = [layout.sessions, ...layout.others, plan.path]
    const stray = strayWritableMounts(layout, hidden, MountTable.read("self"), mounts())
    return stray === undefined ? Effect.void : fail(`no sandbox: ${Layout.replaced(stray)}`)
  }

  const arrive = Effect.suspend(() => {
    const inner = first()
    const at = inner === undefined ? undefined : shellDirectory(inner)
    return at === undefined || layout.identity === undefined || at === layout.identity
      ? Effect.void
      : fail(`no sandbox: ${Layout.replaced(layout.cwd)}`)
  })

  /** Changes the mounts at a path, and nowhere else. */
  const changeAt = (
    path: string,
    what: string,
    change: Effect.Effect<void, ExecutionFailed>,
    identity?: string,
    seenAt?: ReadonlyArray<string>
  ) =>
    Effect.suspend(() => {
      const inner = first()
      if (inner === undefined) return fail(`${what}: the sandbox has ended`)
      const source = MountTable.sourceOf(MountTable.read("self"), path)
      const isMask = ({ root }: MountTable.Mount) => placeholder.test(root)
      return run(change, {
        inner,
        what,
        path,
        stage: stage(path),
        mounts,
        isMask,
        source,
        identity,
        ...(seenAt && { seenAt })
      })
    })

  /**
   * Directs programs to the sandbox's own name server. If resolv.conf links into /run, the link is dangling inside, and
   * programs ask that server anyway.
   */
  const nameServer = Effect.suspend(() => {
    const system = Attempt.orUndefined(() => Fs.realpathSync("/etc/resolv.conf"))
    if (system === undefined || isWithin(system, "/run")) return Effect.void
    const file = Path.join(plan.path, "resolv.conf")
    return Effect.zipRight(
      Effect.try({
        try: () => Fs.writeFileSync(file, "nameserver 127.0.0.1\n", { mode: 0o444 }),
        catch: (error) => fail(`no network: ${String(error)}`)
      }),
      // A bind would be writable inside if it were not read-only from the start.
      mountAll(
        "no network: its name server could not be named",
        Plan.toLine(file, file, "bind,private,ro,nosuid,nodev") + Plan.toLine(file, system, "bind")
      )
    )
  })

  return {
    verify: Effect.suspend(() => verify()),
    arrive,
    canChange: level !== "single",
    isMounted,
    areMounted,
    lost,
    evict: (masks, before) => {
      const inner = first()
      return inner === undefined ? Effect.succeed([]) : Eviction.evict(inner, masks, before)
    },
    stopOthers: Effect.suspend(() => {
      const inner = first()
      if (inner === undefined) return fail("the sandbox has ended")
      const stopped = Eviction.stopOthers(inner)
      return stopped === undefined
        ? fail("the background processes of the sandbox can't be stopped for it")
        : Effect.succeed(stopped)
    }),
    addMasks,
    unmask: (path) => enter(`could not take the mask from ${path}`, programs.umount, [path]),
    removeMask: (path, identity) => {
      const hidden = hiddenAt(path)
      if (hidden !== undefined && temporary !== undefined) {
        const what = `could not show ${path}`
        const change = Effect.flatMap(
          Effect.try({
            try: () => temporary.point(hidden.inside, kindOf(path)),
            catch: (error) => fail(`${what}: ${String(error)}`)
          }),
          (point) => bindOver(what, path, "bind", "private,ro", point)
        )
        return changeAt(path, what, change, identity, hidden.seenAt)
      }
      const what = `could not take the mask from ${path}`
      const change = Effect.gen(function* () {
        yield* enter(what, programs.umount, [path])
        if (layout.isReadOnly || !layout.roots.some((root) => isWithin(path, root))) return
        // A grant to read is no grant to write. Without the read-only bind, the unmasked path would be as writable as
        // its surroundings.
        yield* bindOver(what, path, "bind", "private,ro").pipe(
          Effect.tapError(() => Effect.ignore(addMasks([{ path, kind: kindOf(path) }])))
        )
      })
      return changeAt(path, what, change, identity)
    },
    addBind: (path, identity) =>
      Effect.gen(function* () {
        const what = `could not make ${path} writable`
        if (Path.normalize(path) !== path) return yield* fail(`${what}: it must be written without . and ..`)
        const isWritten = layout.roots.some((root) => isWithin(path, root))
        if (isWritten && !layout.readonly.some((one) => isWithin(path, one))) return []
        // No command of this sandbox can redirect this path, but a command of another sandbox may.
        if (realPath(path) !== path) return yield* fail(`${what}: it is not there, or a link`)
        const held = layout.held().find((one) => isWithin(one, path) || isWithin(path, one))
        if (held !== undefined) return yield* fail(`${what}: it has to do with ${held}`)
        const table = MountTable.read("self")
        const flaw = MountTable.flaw(table, path)
        if (flaw !== undefined) return yield* fail(flaw)
        const [mounted] = MountTable.systemMountsBelow(table, path)
        if (mounted !== undefined) return yield* fail(`${what}: it holds ${mounted}, where no command may write`)
        const masks = yield* Effect.tryPromise({
          try: () => Masks.find(policy, { roots: [path], needed: [path], hidden: [layout.sessions, ...layout.others] }),
          catch: (error) => fail(`${what}: ${String(error)}`)
        })
        const below = masks.filter((mask) => isWithin(mask.path, path))
        if (below.some((mask) => mask.path === path)) return yield* fail(`${what}: it is on the blacklist`)
        yield* addMasks(below.filter((mask) => !isMounted(mask.path)))
        // Since it is not a peer of its source, it can be unmounted without the masks below it.
        yield* changeAt(path, what, bindOver(what, path, "rbind", "rprivate"), identity)
        return below
      }),
    removeBind: (path) => {
      const what = `could not take the right to ${path}`
      const { inside, seenAt } = hiddenAt(path) ?? {}
      const [at = path] = seenAt ?? []
      const change = Effect.tap(enter(what, programs.umount, ["--recursive", "--", at, stage(path)]), () => {
        if (inside !== undefined) temporary?.unpoint(inside)
      })
      return changeAt(path, what, change, undefined, seenAt)
    },
    protect: (path, apply) => {
      const what = `could not protect ${path}`
      const change = Effect.flatMap(
        Effect.try({ try: apply, catch: (error) => fail(`${what}: ${String(error)}`) }),
        () => (realPath(path) === path ? bindOver(what, path, "bind", "private,ro") : Effect.void)
      )
      return changeAt(path, what, change)
    },
    isHidden: (path) => hiddenAt(path) !== undefined,
    network: () => {
      const inner = first()
      return inner === undefined ? undefined : NetworkMeter.open(inner)
    },
    enterNetwork: (isAsked) =>
      Effect.suspend(() => {
        const inner = first()
        if (inner === undefined) return fail("no network: the sandbox has ended")
        if (level === "single" || nsenter === undefined) return fail("no network: this sandbox can't be entered")
        return Effect.zipRight(
          isAsked ? nameServer : Effect.void,
          Effect.tryPromise({
            try: async () => (await import("./NetworkNamespace.js")).enter({ outer: pid, inner, level, nsenter }),
            catch: (error) => fail(`no network: ${(error as Error).message}`)
          })
        )
      }),
    listening: () => {
      const inner = first()
      if (inner === undefined) return []
      listeners ??= new Listeners.Watch(inner)
      return listeners.ports()
    }
  }
}
