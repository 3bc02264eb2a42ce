/**
 * What a kernel can enforce: the port to bubblewrap, to sandbox-exec, and to nothing at all.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { ExecutionFailed } from "../../domain/CommandError.js"
import type { CommandResult } from "../../domain/CommandResult.js"
import type { Spawnable } from "../../session/ShellCommand.js"
import type { Rule, SandboxPolicy } from "../policy/SandboxPolicy.js"

/**
 * A path that a rule took away from the sandbox: the real one, whatever the rule called it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Mask {
  readonly path: string
  readonly kind: "file" | "directory"
  readonly rule: Rule
}

/**
 * A shell, wrapped so that what it runs is held to the policy.
 *
 * @since 0.1.0
 * @category models
 */
export interface Wrapped {
  readonly spawnable: Spawnable
  /** Handed to the program as descriptors 3, 4, …; closed with the scope. */
  readonly descriptors: ReadonlyArray<number>
  /** All of the environment that the shell gets. */
  readonly environment: Readonly<Record<string, string>>
  /** What the plan masks: denials are traced to their rules by it. */
  readonly masks: ReadonlyArray<Mask>
  /** Whether it is expected to start, and not known to: where it does not, wrapping once more may do better. */
  readonly isTrial?: boolean
  /** Why the wrapper could not start, by what it said on standard error; undefined where it had nothing to do with it. */
  readonly explain?: (stderr: string) => ExecutionFailed | undefined
  /** The door to the sandbox that runs, once it is spawned with that pid. */
  readonly live?: (pid: number) => LiveSandbox
}

/**
 * What a watch over masks needs to know.
 *
 * @since 0.1.0
 * @category models
 */
export interface WatchOptions {
  /** Whether a path was allowed while the sandbox runs: it stays without a mask. */
  readonly isGranted: (path: string) => boolean
  /** For whatever changes mounts: one at a time. */
  readonly exclusive: <A, E>(change: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/**
 * Keeps paths masked while a sandbox runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface MaskWatch {
  /** Masks what is not masked and should be. */
  readonly refresh: Effect.Effect<void, ExecutionFailed>
  /** All that is to be masked, as of now. */
  readonly masks: () => ReadonlyArray<Mask>
  /** Masks what was found elsewhere, and keeps it masked. */
  readonly learn: (found: ReadonlyArray<Mask>) => Effect.Effect<void, ExecutionFailed>
}

/**
 * A sandbox that runs. Changes leave its shell and the shell's state as they are; they fail with ExecutionFailed (cause
 * `sandbox`) where that can't be: the sandbox has to be built anew then.
 *
 * @since 0.1.0
 * @category models
 */
export interface LiveSandbox {
  readonly canChange: boolean
  /**
   * Before the first command: fails where what has come up is no sandbox, or not all is masked in it that the rules name.
   * Whatever was moved meanwhile is looked for again; `learn` masks what is found.
   */
  readonly prove: (learn: MaskWatch["learn"] | undefined) => Effect.Effect<void, ExecutionFailed>
  /** Those of the masks that are not in force any more: the host has replaced the file. */
  readonly lost: (masks: ReadonlyArray<Mask>) => ReadonlyArray<Mask>
  /** Looks for all that the rules name by now, where it can be written: a walk. */
  readonly scan: Effect.Effect<ReadonlyArray<Mask>>
  /** Keeps it masked until the scope ends: the host replaces files, which takes their masks away, and makes new ones. */
  readonly watch: (options: WatchOptions) => Effect.Effect<MaskWatch, never, Scope.Scope>
  readonly addMasks: (masks: ReadonlyArray<Pick<Mask, "path" | "kind">>) => Effect.Effect<void, ExecutionFailed>
  readonly removeMask: (path: string) => Effect.Effect<void, ExecutionFailed>
  /** Makes a path writable with all below it but what is masked; answers with the masks that this took. */
  readonly addBind: (path: string) => Effect.Effect<ReadonlyArray<Mask>, ExecutionFailed>
  readonly removeBind: (path: string) => Effect.Effect<void, ExecutionFailed>
}

/**
 * What is to be wrapped, and what it is to be held to.
 *
 * @since 0.1.0
 * @category models
 */
export interface WrapOptions {
  readonly policy: SandboxPolicy
  readonly shell: Spawnable
  /** The session's private directory, which the shell must see (read-only is enough: what it writes to are FIFOs). */
  readonly directory: string
  /** The launcher's environment with the session's own additions; the adapter lets through what its allow-list names. */
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Wraps shells for the kernel of this machine.
 *
 * @since 0.1.0
 * @category tags
 */
export class SandboxPlatform extends Context.Tag("synapse/SandboxPlatform")<
  SandboxPlatform,
  {
    readonly name: string
    /** False where it holds a shell to nothing; it does where this is not given. */
    readonly enforces?: false
    /**
     * Wraps a shell; what that takes is let go of when the scope closes (`platform.cleanup`, S67). Fails with ExecutionFailed (cause `sandbox`), which says what is missing and what to do about it,
     * where the platform can't enforce the policy: never by running unsandboxed.
     */
    readonly wrap: (options: WrapOptions) => Effect.Effect<Wrapped, ExecutionFailed, Scope.Scope>
  }
>() {}

/**
 * Wraps nothing and enforces nothing: shells run with the rights of the user, and their backends have no policy.
 *
 * @since 0.1.0
 * @category constructors
 */
export const none = {
  name: "none",
  enforces: false,
  wrap: ({ environment, shell }: Pick<WrapOptions, "environment" | "shell">): Effect.Effect<Wrapped> =>
    Effect.succeed({ spawnable: shell, descriptors: [], environment, masks: [] })
} as const

/**
 * A layer which wraps nothing and enforces nothing.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<SandboxPlatform> = Layer.succeed(SandboxPlatform, none)

/**
 * Whether a result is that of a denial by the sandbox (S66): the backend that ran the command has recognised it, and filled
 * in `blockedReason` and `blockedResource`.
 *
 * @since 0.1.0
 * @category guards
 */
export const isViolation = (result: CommandResult): boolean => result.blocked === true
