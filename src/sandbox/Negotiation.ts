/**
 * Runs a command. If the policy denies it something, asks a person for permission and runs it again with the grant.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as CallContext from "../domain/CallContext.js"
import { Blocked, type CommandError } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import * as Diagnostic from "../domain/Diagnostic.js"
import type { ExecuteOptions } from "../session/BashSession.js"
import { type Denial, nameOf } from "./denial/Denial.js"
import * as Explanation from "./denial/Explanation.js"
import type { Answer, PermissionRequest } from "./permission/Permission.js"
import * as HostPath from "./policy/HostPath.js"
import * as Name from "./policy/Name.js"
import * as PolicyDecision from "./policy/PolicyDecision.js"
import type { Rule } from "./policy/SandboxPolicy.js"
import type { Grant, SandboxBackend, SandboxResult } from "./SandboxBackend.js"

export interface AttemptOptions extends ExecuteOptions {
  /** The directory whose sandbox runs the command; the session's directory by default. */
  readonly cwd?: string | undefined
  /** The restart that was requested with the command. It is awaited when the command's turn comes. */
  readonly restarted?: Effect.Effect<void>
}

/** Runs a command once, with grants for this run only. */
type Attempt = (
  command: string,
  options: AttemptOptions | undefined,
  grants: ReadonlyArray<Grant>
) => Effect.Effect<{ readonly backend: SandboxBackend; readonly result: SandboxResult }, CommandError>

/** Why a grant could not be given to the running sandbox (`now`) or written to `sandbox.json` (`forGood`). */
export interface Flaws {
  readonly now: string | undefined
  readonly forGood: string | undefined
}

export interface Deps {
  readonly ask: (request: PermissionRequest) => Effect.Effect<Answer>
  readonly attempt: Attempt
  /** Gives a grant until the session ends and, with `forGood`, writes it to `sandbox.json`. Returns what went wrong. */
  readonly keep: (backend: SandboxBackend, grant: Grant, forGood: boolean) => Effect.Effect<Flaws>
  /** Gives a grant and revokes it at once. Returns the error if it can't be given. */
  readonly tryOut: (backend: SandboxBackend, grant: Grant) => Effect.Effect<Option.Option<CommandError>>
}

/** How many one-time grants wait for their command to be run again; the oldest is dropped first. */
const mostPromises = 100

/** Binds a grant to the file that is there now. */
const asIs = (grant: Grant): Grant => ({ ...grant, identity: HostPath.identityOf(grant.resource) })

/**
 * Returns the grant that would lift a denial, if there is one. Only what exists can be granted, so creating a path
 * needs write access to its parent directory. If that is too wide, the file is created and granted alone.
 */
const toGrant = (
  { access, isMet, isOfFile, next, resource, rule }: Denial,
  { policy }: SandboxBackend
): Grant | undefined => {
  if (access === "network" || access === "system" || isMet === true || next !== undefined) return undefined
  if (access === "read" || rule !== PolicyDecision.notWhitelisted.pattern) return asIs({ access, resource })
  const remedy = Explanation.remedyFor(resource, policy?.cwd ?? "/")
  if (remedy === undefined) return undefined
  const { isThere, path } = remedy
  if (isThere) return asIs({ access, resource: path })
  return isOfFile === true && path === resource ? { access, resource, isNew: true } : undefined
}

const toRequest = (denial: Denial, grant: Grant, command: string, { policy }: SandboxBackend): PermissionRequest => {
  const { access, isNew, resource } = grant
  const reason =
    isNew === true
      ? `${denial.reason}; where it is allowed, it is made, empty, before the command runs again`
      : resource === denial.resource
        ? denial.reason
        : `${denial.reason}; to make ${denial.resource} takes its whole directory`
  const rules = [PolicyDecision.notWhitelisted, ...(policy?.blacklist ?? []), ...(policy?.readonly ?? [])]
  const rule = rules.find(({ pattern, source }) => pattern === denial.rule && source === denial.source)
  const unknown: Rule = { pattern: denial.rule, path: resource, kind: "path", source: denial.source }
  const hasRun = denial.how === "preflight" ? undefined : ({ hasRun: true } as const)
  return { resource, access, rule: rule ?? unknown, command, reason, ...hasRun }
}

const toBlocked = (denial: Denial, { policy }: SandboxBackend, result: SandboxResult, why?: string): Blocked => {
  const denied = result.denied ?? (policy && Explanation.of(denial, policy))
  return new Blocked({
    resource: result.blockedResource ?? denial.resource,
    path: nameOf(denial),
    rule: denial.rule,
    reason: denial.reason,
    ...(denied === undefined ? undefined : { denied }),
    diagnostics: [...(why === undefined ? [] : [Diagnostic.notice(why, "denied")]), ...(result.diagnostics ?? [])]
  })
}

const allowedInVain = ({ access }: Denial): string =>
  access === "write"
    ? "It was allowed, but what is blacklisted can be allowed to be read, never to be written."
    : "It was allowed, and is denied all the same."

/**
 * Makes the function that runs commands and asks for permission when the policy denies them something.
 *
 * A command that was denied before it ran (`preflight`) runs after the answer. A command that already ran is not run
 * again: the result says what was allowed, and the model may repeat it.
 */
export const make = (
  deps: Deps
): ((command: string, options?: AttemptOptions) => Effect.Effect<CommandResult, CommandError>) => {
  const promises = new Map<string, ReadonlyArray<Grant>>()

  const promise = (command: string, grants: ReadonlyArray<Grant>) => {
    promises.delete(command)
    promises.set(command, grants)
    for (const oldest of promises.keys()) if (promises.size > mostPromises) promises.delete(oldest)
  }

  /**
   * Gives the grant after the command has run, with a notice that tells the model to run it again. One-time grants of
   * this run hold for the next run too, because a run that was denied more does not count as the one time.
   */
  const afterwards = (
    backend: SandboxBackend,
    command: string,
    result: SandboxResult,
    grants: ReadonlyArray<Grant>,
    grant: Grant,
    answer: Answer
  ) =>
    Effect.gen(function* () {
      const withAllowed = (what: string) => Diagnostic.tell(result, Diagnostic.notice(`Allowed: ${what}`, "allowed"))
      if (answer === "allow_once") {
        const refused = yield* deps.tryOut(backend, grant)
        if (Option.isSome(refused)) {
          return Diagnostic.tell(
            result,
            Diagnostic.notice(`The user allowed ${Name.of(grant.resource)} once, but ${refused.value.message}.`)
          )
        }
        promise(command, [...grants, grant])
        return withAllowed(`${Name.of(grant.resource)} once, for this command: run it again.`)
      }
      if (grants.length > 0) promise(command, grants)
      const flaws = yield* deps.keep(backend, grant, answer === "allow_permanent")
      const now = flaws.now === undefined ? " now: run the command again." : `, but ${flaws.now}.`
      const forGood = flaws.forGood === undefined ? "" : ` Not for good: ${flaws.forGood}`
      return withAllowed(`${Name.of(grant.resource)}${now}${forGood}`)
    })

  /** Runs the command and asks about each resource that it is denied, but never twice about the same one. */
  const run = (
    command: string,
    options: AttemptOptions | undefined,
    grants: ReadonlyArray<Grant> = [],
    asked: ReadonlyArray<string> = []
  ): Effect.Effect<CommandResult, CommandError> =>
    Effect.flatMap(deps.attempt(command, options, grants), ({ backend, result }) => {
      const { denial } = result
      return result.blocked && denial !== undefined
        ? denied(command, options, grants, asked, backend, result, denial)
        : Effect.succeed(result)
    })

  const denied = (
    command: string,
    options: AttemptOptions | undefined,
    grants: ReadonlyArray<Grant>,
    asked: ReadonlyArray<string>,
    backend: SandboxBackend,
    result: SandboxResult,
    denial: Denial
  ): Effect.Effect<CommandResult, CommandError> =>
    Effect.gen(function* () {
      const ran = denial.how !== "preflight"
      const grant = toGrant(denial, backend)
      const isNew = grant === undefined || !asked.includes(grant.resource)
      const answer = isNew && grant !== undefined ? yield* deps.ask(toRequest(denial, grant, command, backend)) : "deny"
      if (answer === "deny" || grant === undefined) {
        return ran ? result : yield* toBlocked(denial, backend, result, isNew ? undefined : allowedInVain(denial))
      }
      if (ran) {
        // The command has ended, so its listener must not hear of an interruption after it.
        return yield* CallContext.locally(afterwards(backend, command, result, grants, grant, answer), { listener: {} })
      }
      const known = [...asked, grant.resource]
      if (answer !== "allow_once") {
        yield* deps.keep(backend, grant, answer === "allow_permanent")
        return yield* run(command, options, grants, known)
      }
      return yield* Effect.catchIf(
        run(command, options, [...grants, grant], known),
        (error) => error._tag === "ExecutionFailed" && error.kind === "sandbox",
        (error) => toBlocked(denial, backend, result, `It was allowed once, but ${error.message}.`)
      )
    })

  return (command, options) =>
    Effect.suspend(() => {
      const promised = promises.get(command)
      promises.delete(command)
      return run(command, options, promised)
    })
}
