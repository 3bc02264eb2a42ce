/**
 * What becomes of a command that the policy denied: somebody is asked, and it runs with the right that was given, or not.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Blocked, type CommandError } from "../domain/CommandError.js"
import type { CommandResult } from "../domain/CommandResult.js"
import type { ExecuteOptions } from "../session/BashSession.js"
import type { Denial } from "./denial/Denial.js"
import * as Explanation from "./denial/Explanation.js"
import type { Answer, PermissionRequest } from "./permission/Permission.js"
import * as PolicyDecision from "./policy/PolicyDecision.js"
import type { Rule } from "./policy/SandboxPolicy.js"
import type { Grant, SandboxBackend, SandboxResult } from "./SandboxBackend.js"

/**
 * How a command is run.
 *
 * @since 0.1.0
 * @category models
 */
export interface AttemptOptions extends ExecuteOptions {
  /** The directory whose sandbox it runs in; the manager's own where it is not given. */
  readonly cwd?: string | undefined
  /** Waited for when the command's turn has come: the restart of the shell that was asked for with it. */
  readonly restarted?: Effect.Effect<void>
}

/**
 * One run of a command, with rights that are there as long as it runs.
 *
 * @since 0.1.0
 * @category models
 */
export type Attempt = (
  command: string,
  options: AttemptOptions | undefined,
  grants: ReadonlyArray<Grant>
) => Effect.Effect<{ readonly backend: SandboxBackend; readonly result: SandboxResult }, CommandError>

/**
 * Why a right that was given is not there now, and why it was not written down.
 *
 * @since 0.1.0
 * @category models
 */
export interface Flaws {
  readonly now: string | undefined
  readonly forGood: string | undefined
}

/**
 * What a negotiation needs of others.
 *
 * @since 0.1.0
 * @category models
 */
export interface Door {
  readonly ask: (request: PermissionRequest) => Effect.Effect<Answer>
  readonly attempt: Attempt
  /** Gives a right until the session ends, and for good where that is asked for; answers why it is not there. */
  readonly keep: (backend: SandboxBackend, grant: Grant, forGood: boolean) => Effect.Effect<Flaws>
  /** Gives a right and takes it back; answers why it can't be given. */
  readonly tryOut: (backend: SandboxBackend, grant: Grant) => Effect.Effect<Option.Option<CommandError>>
}

/** What was allowed once, to a command that had been refused it: it is there when the same command comes again. */
const mostPromises = 100

const toRequest = (denial: Denial, command: string, { policy }: SandboxBackend): PermissionRequest => {
  const { access, reason, resource } = denial
  const rules = [PolicyDecision.notWhitelisted, ...(policy?.blacklist ?? []), ...(policy?.readonly ?? [])]
  const rule = rules.find(({ pattern, source }) => pattern === denial.rule && source === denial.source)
  const unknown: Rule = { pattern: denial.rule, path: resource, kind: "path", source: denial.source }
  return { resource, access, rule: rule ?? unknown, command, reason }
}

const toBlocked = (denial: Denial, { policy }: SandboxBackend, result: SandboxResult, why = ""): Blocked =>
  new Blocked({
    resource: result.blockedResource ?? denial.resource,
    rule: denial.rule,
    reason: denial.reason,
    advice: [policy === undefined ? "" : Explanation.advise(denial, policy), why].filter(Boolean).join("\n")
  })

const allowedInVain = ({ access }: Denial): string =>
  access === "write"
    ? "It was allowed, but what is blacklisted can be allowed to be read, never to be written."
    : "It was allowed, and is denied all the same."

const withNotice = (result: SandboxResult, notice: string): SandboxResult => ({
  ...result,
  notices: [...(result.notices ?? []), notice]
})

/**
 * Makes what runs commands with whatever rights a person gives them.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  door: Door
): ((command: string, options?: AttemptOptions) => Effect.Effect<CommandResult, CommandError>) => {
  const promises = new Map<string, Grant>()

  const promise = (command: string, grant: Grant) => {
    promises.delete(command)
    promises.set(command, grant)
    for (const oldest of promises.keys()) if (promises.size > mostPromises) promises.delete(oldest)
  }

  /** A command that ran is not run twice, but may be next time. */
  const afterwards = (backend: SandboxBackend, command: string, result: SandboxResult, grant: Grant, answer: Answer) =>
    Effect.gen(function* () {
      if (answer === "allow_once") {
        const refused = yield* door.tryOut(backend, grant)
        if (Option.isSome(refused)) {
          return withNotice(result, `The user allowed ${grant.resource} once, but ${refused.value.message}.`)
        }
        promise(command, grant)
        return withNotice(result, `The user has allowed ${grant.resource} once, for this command: run it again.`)
      }
      const flaws = yield* door.keep(backend, grant, answer === "allow_permanent")
      const now = flaws.now === undefined ? " now: run the command again." : `, but ${flaws.now}.`
      const notice = `The user has allowed ${grant.resource}${now}`
      return withNotice(result, flaws.forGood === undefined ? notice : `${notice} Not for good: ${flaws.forGood}`)
    })

  /** What was not run runs with what is allowed: until it is denied something that it has not, or that it has already. */
  const run = (
    command: string,
    options: AttemptOptions | undefined,
    grants: ReadonlyArray<Grant>,
    asked: ReadonlyArray<string> = []
  ): Effect.Effect<CommandResult, CommandError> =>
    Effect.flatMap(door.attempt(command, options, grants), ({ backend, result }) => {
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
      const isNew = !asked.includes(denial.resource)
      const answer = isNew ? yield* door.ask(toRequest(denial, command, backend)) : "deny"
      if (answer === "deny" || denial.access === "network") {
        return ran ? result : yield* toBlocked(denial, backend, result, isNew ? "" : allowedInVain(denial))
      }
      const grant: Grant = { access: denial.access, resource: denial.resource }
      if (ran) return yield* afterwards(backend, command, result, grant, answer)
      const known = [...asked, grant.resource]
      if (answer !== "allow_once") {
        yield* door.keep(backend, grant, answer === "allow_permanent")
        return yield* run(command, options, grants, known)
      }
      return yield* Effect.catchIf(
        run(command, options, [...grants, grant], known),
        (error) => error._tag === "ExecutionFailed" && error.cause === "sandbox",
        (error) => toBlocked(denial, backend, result, `It was allowed once, but ${error.message}.`)
      )
    })

  return (command, options) =>
    Effect.suspend(() => {
      const promised = promises.get(command)
      promises.delete(command)
      return run(command, options, promised === undefined ? [] : [promised])
    })
}
