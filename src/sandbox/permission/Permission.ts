/**
 * Whom to ask when the policy denies something.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PathEntry from "../policy/PathEntry.js"
import * as PolicyDecision from "../policy/PolicyDecision.js"
import type { Rule } from "../policy/SandboxPolicy.js"

/**
 * What was denied. `resource` is a real path, or the address of something on the network.
 *
 * @since 0.1.0
 * @category models
 */
export interface PermissionRequest {
  readonly resource: string
  readonly access: PolicyDecision.Access | "network"
  readonly rule: Rule
  /** What the model wants to run. */
  readonly command: string
  readonly reason: string
}

/**
 * Each is about the resource and nothing around it: for this command, until the session ends, or for good, in `sandbox.json`.
 *
 * @since 0.1.0
 * @category models
 */
export type Answer = "allow_once" | "allow_session" | "allow_permanent" | "deny"

/**
 * Asks a person whether a command may have what the policy denies it.
 *
 * @since 0.1.0
 * @category tags
 */
export class Permission extends Context.Tag("synapse/Permission")<
  Permission,
  {
    /** Never answers more than `choices` has; a person who can't be asked denies. */
    readonly ask: (request: PermissionRequest) => Effect.Effect<Answer>
  }
>() {}

/**
 * What may be answered, the narrowest first and `deny` at the end.
 *
 * For good is only what a whitelist can give. What is on a blacklist stays there until a person edits `sandbox.json`, and
 * what is built in for ever: the most is a session. The network and Synapse's own files are never given.
 *
 * @since 0.1.0
 */
export const choices = ({ access, resource, rule }: PermissionRequest): ReadonlyArray<Answer> => {
  if (access === "network" || rule.source === "own") return ["deny"]
  if (!PolicyDecision.isNotWhitelisted(rule)) return ["allow_once", "allow_session", "deny"]
  if (PathEntry.unwritable(resource) !== undefined) return ["deny"]
  return ["allow_once", "allow_session", "allow_permanent", "deny"]
}

/** Holds an answer to what was on offer: what is too much becomes what is next to it. */
const within = (offered: ReadonlyArray<Answer>, answer: Answer): Answer => {
  if (offered.includes(answer)) return answer
  return answer === "allow_permanent" && offered.includes("allow_session") ? "allow_session" : "deny"
}

/**
 * Asks only where there is something to choose, and takes whatever goes wrong for a denial.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  ask: (request: PermissionRequest, offered: ReadonlyArray<Answer>) => Effect.Effect<Answer, unknown>
): Context.Tag.Service<Permission> => ({
  ask: Effect.fn("Permission.ask")(function* (request) {
    const offered = choices(request)
    if (offered.length === 1) return "deny"
    const answer = yield* Effect.suspend(() => ask(request, offered)).pipe(
      Effect.catchAllCause((cause) =>
        Effect.as(Effect.logWarning("The question for permission failed", cause), "deny" as const)
      )
    )
    return within(offered, answer)
  })
})

/**
 * Nobody to ask: everything that the policy denies is denied.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<Permission> = Layer.succeed(
  Permission,
  make(() => Effect.succeed("deny"))
)

/**
 * Asks the program that Synapse is part of: by an Effect or a promise.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerCallback = (
  ask: (
    request: PermissionRequest,
    offered: ReadonlyArray<Answer>
  ) => Effect.Effect<Answer, unknown> | PromiseLike<Answer>
): Layer.Layer<Permission> =>
  Layer.succeed(
    Permission,
    make((request, offered) => {
      const answer = ask(request, offered)
      return Effect.isEffect(answer) ? answer : Effect.tryPromise(async () => answer)
    })
  )
