/**
 * Changes the mounts of a sandbox that runs at one path, which has to be named: its processes are stopped meanwhile, so that
 * none of them can lead the name elsewhere, or see what lay bare. Where another session has led it elsewhere, the sandbox
 * is ended before any of them goes on.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import { ExecutionFailed } from "../../../../domain/CommandError.js"
import * as FileIdentity from "../../../policy/FileIdentity.js"
import { isWithin } from "../../../policy/HostPath.js"
import type * as MountTable from "../plan/MountTable.js"
import { realPath } from "../plan/WriteRoots.js"
import * as Eviction from "./Eviction.js"

type Table = ReadonlyArray<MountTable.Mount>

/**
 * The options of `run`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The first process of the sandbox. */
  readonly inner: number
  /** The text that begins an error. */
  readonly what: string
  /** The real path that the change is about. */
  readonly path: string
  /** The identity (`FileIdentity`) that the path must have; any, where it is not given. */
  readonly identity?: string | undefined
  /** A place of this process's own through which binds go. */
  readonly stage: string
  /** Returns the mounts of the sandbox, as of now. */
  readonly mounts: () => Table
  /** Tests whether a mount is a mask. */
  readonly isMask: (mount: MountTable.Mount) => boolean
  /** The mounts of this process, by which the file system of the path is known; undefined where nothing is mounted there. */
  readonly source?: Pick<MountTable.Mount, "device" | "root"> | undefined
}

const fail = (reason: string) => new ExecutionFailed({ kind: "sandbox", reason })

const keyOf = ({ device, point, root }: MountTable.Mount): string => `${device} ${root} ${point}`

/** Tests whether a change has taken away masks elsewhere, or mounted anything elsewhere, or something else there. */
const isStray = (before: Table, after: Table, { isMask, path, source, stage }: Options): boolean => {
  // A mask at the path lies on its stage too.
  const isMeant = ({ point }: MountTable.Mount) => isWithin(point, path) || isWithin(point, stage)
  const masked = new Set(after.filter(isMask).map(({ point }) => point))
  if (before.some((mount) => isMask(mount) && !isMeant(mount) && !masked.has(mount.point))) return true
  const known = new Set(before.map(keyOf))
  return after.some((mount) => {
    if (known.has(keyOf(mount)) || isWithin(mount.point, stage)) return false
    if (!isWithin(mount.point, path)) return true
    if (mount.point !== path || isMask(mount)) return false
    return source === undefined || mount.device !== source.device || mount.root !== source.root
  })
}

/**
 * Runs a change.
 *
 * @since 0.1.0
 * @category constructors
 */
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
        if (identity !== undefined && FileIdentity.of(path) !== identity)
          return yield* fail(`${what}: something else is there by now`)
        const before = mounts()
        const changed: Either.Either<void, ExecutionFailed> = yield* Effect.either(change)
        if (isStray(before, mounts(), options)) {
          Eviction.endAtOnce(inner)
          return yield* fail(`${what}: it was replaced meanwhile, and the sandbox was ended`)
        }
        return yield* changed
      }).pipe(Effect.ensuring(Effect.sync(() => Eviction.goOn(stopped))))
    })
  )
