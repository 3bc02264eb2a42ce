/**
 * Gives sandboxes what a person has allowed: for one command, until the session ends, or permanently.
 */

import * as Fs from "node:fs"
import * as Path from "node:path"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Function from "effect/Function"
import { type CommandError, ExecutionFailed } from "../../domain/CommandError.js"
import type { CommandQueue } from "../../session/CommandQueue.js"
import type { SandboxConfig } from "../config/SandboxConfig.js"
import * as TaintedPaths from "../config/TaintedPaths.js"
import type * as Negotiation from "../Negotiation.js"
import * as HeldDirectory from "../policy/HeldDirectory.js"
import * as HostPath from "../policy/HostPath.js"
import * as Name from "../policy/Name.js"
import * as RealPath from "../policy/RealPath.js"
import { type Grant, type SandboxBackend, withGrants } from "../SandboxBackend.js"
import { type CurrentSandbox, type RuntimeGrants, toFailure } from "./CurrentSandbox.js"

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = Fs.constants

const attempt = (path: string, use: () => void): Effect.Effect<void, ExecutionFailed> =>
  Effect.try({
    try: use,
    catch: (error) =>
      new ExecutionFailed({ kind: "sandbox", reason: `${path} can't be made: ${(error as Error).message}` })
  })

/** Creates the file at a path whose directory can no longer be swapped. */
const makeAt = (path: string): void => {
  try {
    Fs.closeSync(Fs.openSync(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o666))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !Fs.lstatSync(path).isFile()) throw error
  }
}

/**
 * Creates the file; an existing file stays as it is. Fails if a link leads to its directory, because another session
 * may have made the link after the request.
 */
export const makeNewFile = (path: string): Effect.Effect<void, ExecutionFailed> =>
  attempt(path, () => {
    const parent = Path.dirname(path)
    const isMade = HeldDirectory.within(parent, (reached) => {
      makeAt(`${reached}/${Path.basename(path)}`)
      return true
    })
    if (isMade === undefined) throw new Error(`${parent} is gone, or a link leads there`)
  })

/** Tests whether this process can create the file. */
const check = (path: string): Effect.Effect<void, ExecutionFailed> =>
  attempt(path, () => Fs.accessSync(Path.dirname(path), Fs.constants.W_OK))

export interface GrantingDeps {
  readonly config: Pick<Context.Tag.Service<SandboxConfig>, "addReadable" | "addWhitelist" | "remember">
  readonly current: CurrentSandbox
  /** The directory whose sandbox is created if there is none. */
  readonly directory: string
  readonly grants: RuntimeGrants
  /** The directory of Synapse's own files. */
  readonly home: string
  readonly queue: CommandQueue
}

export type Granting = ReturnType<typeof make>

/** The beginning of the notice that a grant needed a new shell. */
const anew = "A new shell was started, and variables, functions and background jobs are gone"

/** Tests whether the requested path now holds something else. */
const isAnother = ({ identity, resource }: Grant): boolean =>
  identity === undefined ? RealPath.follow(resource).real !== resource : HostPath.identityOf(resource) !== identity

export const make = ({ config, current, directory, grants, home, queue }: GrantingDeps) => {
  /** Runs before a sandbox gets a grant, even for one command. If it fails, the grant is not given. */
  const prepare = ({ access, isNew, resource }: Grant) =>
    Effect.zipRight(
      isNew === true ? makeNewFile(resource) : Effect.void,
      access === "write" ? config.remember([resource]) : Effect.void
    )

  /** Adds a grant to the policy of every sandbox that is made from now on. */
  const remember = (grant: Grant) => grants.add(grant, current.now()?.backend)

  const lend = <A>(
    backend: SandboxBackend,
    grants: ReadonlyArray<Grant>,
    use: Effect.Effect<A, CommandError>
  ): Effect.Effect<A, CommandError> =>
    grants.length === 0
      ? use
      : Effect.zipRight(
          Effect.forEach(grants, prepare, { discard: true }),
          (backend.alone ?? Function.identity)(
            withGrants(backend, grants, use, ({ resource }) =>
              current.retire(
                backend,
                `${anew}: ${Name.of(resource)} was allowed once, and that could not be taken back otherwise.`
              )
            )
          )
        )

  const write = (path: string, access: Grant["access"]) =>
    Effect.asVoid(
      Effect.mapError(access === "read" ? config.addReadable(path) : config.addWhitelist(path), (error) =>
        error._tag === "SandboxConfigError" ? toFailure(error) : error
      )
    )

  const keep: Negotiation.Deps["keep"] = (backend, grant, forGood) =>
    Effect.gen(function* () {
      const kept = Effect.zipRight(
        Effect.sync(() => remember(grant)),
        current.findConfinement
      )
      const give = (backend.grant?.(grant) ?? Effect.void).pipe(
        Effect.zipLeft(kept),
        Effect.catchTag("ExecutionFailed", (error) =>
          // No sandbox may have what was put in its place.
          isAnother(grant)
            ? Effect.fail(error)
            : Effect.zipRight(
                kept,
                current.retire(backend, `${anew}: only a new sandbox can have ${Name.of(grant.resource)} allowed.`)
              )
        )
      )
      const given = yield* Effect.either(queue.enter(Effect.zipRight(prepare(grant), give)))
      // A grant that could not be given leaves nothing behind.
      if (Either.isLeft(given)) return { now: given.left.message, forGood: undefined }
      const written = forGood ? yield* Effect.either(write(grant.resource, grant.access)) : undefined
      return { now: undefined, forGood: written?._tag === "Left" ? written.left.message : undefined }
    })

  return {
    /** Runs with grants that are revoked afterwards. A sandbox that can't revoke one is ended. */
    lend,
    keep,
    tryOut: (backend: SandboxBackend, grant: Grant) =>
      // The file is only created when the command runs again.
      grant.isNew === true
        ? Effect.map(Effect.either(check(grant.resource)), Either.getLeft)
        : Effect.map(Effect.either(queue.enter(lend(backend, [grant], Effect.void))), Either.getLeft),
    /** Allows an existing real path in the running sandbox and all later ones. */
    allow: (path: string, access: Grant["access"] = "write"): Effect.Effect<void, ExecutionFailed> =>
      Effect.gen(function* () {
        const backend = yield* current.get(current.now()?.cwd ?? directory)
        if (backend.policy === undefined) return
        const doubt = TaintedPaths.doubt(home, path)
        if (doubt !== undefined) {
          const reason = `${TaintedPaths.describe(doubt)}; if that is what is meant, allow ${doubt.real}`
          return yield* new ExecutionFailed({ kind: "sandbox", reason })
        }
        const resource = RealPath.follow(path).real
        const { now } = yield* keep(backend, { resource, access }, false)
        if (now !== undefined) return yield* new ExecutionFailed({ kind: "sandbox", reason: now })
      }),
    /** Allows writing to a path in a rebuilt sandbox. If no policy can hold the path, nothing changes. */
    allowAnew: (path: string) =>
      current.rebuild(
        Effect.suspend(() => {
          const takeBack = remember({ access: "write", resource: path })
          return Effect.onError(current.build(current.now()?.cwd ?? directory), () => Effect.sync(takeBack))
        })
      ),
    allowForGood: (path: string) => write(path, "write")
  }
}
