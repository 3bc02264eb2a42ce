/**
 * The interface to what enforces a policy on this machine: bubblewrap, sandbox-exec, or nothing.
 *
 * @since 0.1.0
 */
import type * as Dgram from "node:dgram"
import type * as Net from "node:net"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { ExecutionFailed } from "../../domain/CommandError.js"
import type { CommandResult } from "../../domain/CommandResult.js"
import type { Spawnable } from "../../session/ShellLauncher.js"
import type { Rule, SandboxPolicy } from "../policy/SandboxPolicy.js"
import type { NetworkMeter } from "./NetworkMeter.js"

/**
 * A blacklisted path that the sandbox hides, by its real path, however the rule spells it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Mask {
  readonly path: string
  readonly kind: "file" | "directory"
  readonly rule: Rule
  /** Why the path is masked, if no rule names it. */
  readonly reason?: string
  /** The text that commands read in the file's place. Without it, they may not open the file. */
  readonly standIn?: string
}

/**
 * A shell, wrapped so that the policy holds for everything that it runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface Wrapped {
  /** The command line to spawn. It passes its descriptor 3 on to the shell. */
  readonly spawnable: Spawnable
  /** The whole environment of the shell. */
  readonly environment: Readonly<Record<string, string>>
  /** The variables that it removes from the given environment. */
  readonly withheld?: ReadonlyArray<string>
  /** The sandbox's limit of processes and threads, if any. */
  readonly processes?: number | undefined
  /** Returns how many processes the kernel has killed at the sandbox's limit of memory; undefined without a limit. */
  readonly killed?: (() => number) | undefined
  /** The masks of the sandbox, by which denials are traced to their rules. */
  readonly masks: ReadonlyArray<Mask>
  /** True if it was not tested that the sandbox can start. If it fails, wrapping the shell again may succeed. */
  readonly isTrial?: boolean
  /** Explains from the wrapper's standard error why it could not start; undefined if the wrapper was not the cause. */
  readonly explain?: (stderr: string) => ExecutionFailed | undefined
  /** Returns the running sandbox of the shell that was spawned with this pid. */
  readonly live?: (pid: number) => LiveSandbox
}

/**
 * A shell whose sandbox is still being planned. Its program can already be spawned and waits until it is told to
 * continue.
 *
 * @since 0.1.0
 * @category models
 */
export interface Begun extends Pick<Wrapped, "environment" | "explain" | "isTrial" | "spawnable"> {
  /** Finishes the plan while the program starts, and returns what the program then reads from its descriptor 3. */
  readonly finish: Effect.Effect<{ readonly wrapped: Wrapped; readonly words: string }, ExecutionFailed, Scope.Scope>
}

/**
 * The options of a watch over masks.
 *
 * @since 0.1.0
 * @category models
 */
export interface WatchOptions {
  /** Tests whether a path was granted while the sandbox runs, so that it must not be masked. */
  readonly isGranted: (path: string) => boolean
  /** Runs a change of the mounts while no other change is made. */
  readonly exclusive: <A, E>(change: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Called when something has been masked that the sandbox's processes may hold open. */
  readonly onMasked?: () => void
}

/**
 * Keeps paths masked while a sandbox runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface MaskWatch {
  /** Restores all masks that are missing. */
  readonly refresh: Effect.Effect<void, ExecutionFailed>
  /**
   * Ends the processes that hold open what has been masked while the sandbox ran. Returns a sentence per mask. With
   * `before`, in clock ticks since boot, only older processes.
   */
  readonly evict: (before?: number) => Effect.Effect<ReadonlyArray<string>>
  /** True if something was masked and `evict` has not looked for its holders. */
  readonly isEvictionDue: () => boolean
  /** Returns all masks that the sandbox should have now. */
  readonly masks: () => ReadonlyArray<Mask>
  /** Adds masks that a scan found, and keeps them in place. */
  readonly learn: (found: ReadonlyArray<Mask>) => Effect.Effect<void, ExecutionFailed>
  /** True if the system refuses to report changes, so that directories are checked every 100 ms. */
  readonly isPolling: () => boolean
}

/**
 * Processes that were stopped.
 *
 * @since 0.1.0
 * @category models
 */
export interface Stopped {
  readonly count: number
  /** Lets them continue. */
  readonly goOn: () => void
}

/**
 * Sockets in the network of a sandbox, owned by this process.
 *
 * @since 0.1.0
 * @category models
 */
export interface NetworkDoor {
  /** Opens the socket at which DNS queries arrive. */
  readonly names: () => Promise<Dgram.Socket>
  /** Listens in the sandbox. */
  readonly listen: (address: string, port: number) => Promise<Net.Server>
  /** Connects to a server in the sandbox. */
  readonly connect: (address: string, port: number) => Promise<Net.Socket>
  /** Assigns a block of IPv4 addresses to the sandbox, so that connections to them arrive here. */
  readonly own: (block: string) => Promise<void>
  readonly close: () => void
}

/**
 * A running sandbox. Changes leave the shell and its state alone. A change that is not possible fails with
 * ExecutionFailed (kind `sandbox`) and needs a new sandbox.
 *
 * @since 0.1.0
 * @category models
 */
export interface LiveSandbox {
  /** True if the sandbox can be changed while it runs. */
  readonly canChange: boolean
  /**
   * Verifies, before the first command, that the processes run in a sandbox and that all masks are in place; fails
   * otherwise. If files were moved meanwhile, scans again, and `learn` masks what the scan finds.
   */
  readonly prove: (learn: MaskWatch["learn"] | undefined) => Effect.Effect<void, ExecutionFailed>
  /** Fails, after the first shell answers and before any command, if the shell is not in the planned directory. */
  readonly arrive: Effect.Effect<void, ExecutionFailed>
  /** Returns the masks that are no longer in place, because the host has replaced the file. */
  readonly lost: (masks: ReadonlyArray<Mask>) => ReadonlyArray<Mask>
  /** Walks all writable directories, and returns a mask for each path that the blacklist now names. */
  readonly scan: Effect.Effect<ReadonlyArray<Mask>, ExecutionFailed>
  /** Returns the directories that the last walk found to be git directories by their `HEAD`, or to lead to one. */
  readonly heads?: () => ReadonlyArray<string>
  /**
   * Keeps the masks in place until the scope ends. The host may replace files, which removes their masks, or create new
   * ones.
   */
  readonly watch: (options: WatchOptions) => Effect.Effect<MaskWatch, never, Scope.Scope>
  readonly addMasks: (masks: ReadonlyArray<Pick<Mask, "path" | "kind">>) => Effect.Effect<void, ExecutionFailed>
  /** Makes a masked path readable. Fails if the path does not have the identity (`HostPath.identityOf`). */
  readonly removeMask: (path: string, identity?: string) => Effect.Effect<void, ExecutionFailed>
  /**
   * Makes a path writable, with everything below it that is not masked. Returns the masks that had to be added below
   * it. Fails if the path does not have the identity (`HostPath.identityOf`).
   */
  readonly addBind: (path: string, identity?: string) => Effect.Effect<ReadonlyArray<Mask>, ExecutionFailed>
  readonly removeBind: (path: string) => Effect.Effect<void, ExecutionFailed>
  /**
   * Changes a path outside while the sandbox's processes are stopped, and makes the result read-only in the sandbox.
   */
  readonly protect?: (path: string, change: () => void) => Effect.Effect<void, ExecutionFailed>
  /** Tests whether the sandbox's own `/tmp` hides a path. A grant to read such a path is revoked by `removeBind`. */
  readonly isHidden?: (path: string) => boolean
  /**
   * Stops the sandbox's current processes except the shell, so that they do not share what is allowed for one command.
   * Missing if nothing can be allowed while the sandbox runs.
   */
  readonly stopOthers?: Effect.Effect<Stopped, ExecutionFailed>
  /** Opens the meter of the sandbox's network, which the caller must close; undefined if the system counts nothing. */
  readonly network: () => NetworkMeter | undefined
  /**
   * Enters the sandbox's network, which has only its loopback. Fails, saying why, if that is not possible.
   *
   * @param isAsked true if programs should send DNS queries to 127.0.0.1 in it
   */
  readonly enterNetwork?: (isAsked: boolean) => Effect.Effect<NetworkDoor, ExecutionFailed>
  /** Returns the ports at which servers in the sandbox listen. */
  readonly listening?: () => ReadonlyArray<number>
}

/**
 * The options of `wrap`: the shell, and the policy to enforce on it.
 *
 * @since 0.1.0
 * @category models
 */
export interface WrapOptions {
  readonly policy: SandboxPolicy
  readonly shell: Spawnable
  /**
   * The session's private directory, which the shell must see. Read-only is enough: the shell writes only to FIFOs in
   * it.
   */
  readonly directory: string
  /** The launcher's environment with the session's additions. The platform passes on what its allow-list names. */
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Wraps shells in the sandbox that this machine's kernel offers.
 *
 * @since 0.1.0
 * @category tags
 */
export class SandboxPlatform extends Context.Tag("synapse/SandboxPlatform")<
  SandboxPlatform,
  {
    readonly name: string
    /** False if the platform enforces nothing. By default, it enforces the policy. */
    readonly enforces?: false
    /**
     * Returns why no sandbox can be made for a shell with that environment: what is missing, or why the last attempt
     * failed. Makes no attempt itself.
     */
    readonly obstacle?: (environment: Readonly<Record<string, string>>) => string | undefined
    /** Adds to a policy what must be denied on this machine, as it is when a sandbox is made. */
    readonly refine?: (policy: SandboxPolicy, userHome: string) => Effect.Effect<SandboxPolicy, ExecutionFailed>
    /**
     * Wraps a shell; its resources are released when the scope closes (`platform.cleanup`, S67). If the platform can't
     * enforce the policy, fails with ExecutionFailed (kind `sandbox`), which says what is missing and what to do. It
     * never runs the shell without the sandbox instead.
     */
    readonly wrap: (options: WrapOptions) => Effect.Effect<Wrapped, ExecutionFailed, Scope.Scope>
    /** Begins to wrap a shell, if its program can start before the plan is finished. */
    readonly begin?: (options: WrapOptions) => Effect.Effect<Begun, ExecutionFailed, Scope.Scope>
  }
>() {}

/**
 * Begins to wrap a shell. If the platform has no `begin`, wraps it.
 *
 * @since 0.1.0
 */
export const begin = (
  platform: Context.Tag.Service<SandboxPlatform>,
  options: WrapOptions
): Effect.Effect<Begun, ExecutionFailed, Scope.Scope> =>
  platform.begin?.(options) ??
  Effect.map(platform.wrap(options), (wrapped) => ({ ...wrapped, finish: Effect.succeed({ wrapped, words: "" }) }))

/**
 * The platform that enforces nothing: shells run with all of the user's rights, and their backends have no policy.
 *
 * @since 0.1.0
 * @category constructors
 */
export const none = {
  name: "none",
  enforces: false,
  wrap: ({ environment, shell }: Pick<WrapOptions, "environment" | "shell">): Effect.Effect<Wrapped> =>
    Effect.succeed({ spawnable: shell, environment, masks: [] })
} as const

/**
 * A layer of the platform that enforces nothing.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<SandboxPlatform> = Layer.succeed(SandboxPlatform, none)

/**
 * Tests whether a result reports a denial by the sandbox. The backend that ran the command has recognised it and filled
 * in `blockedReason` and `blockedResource`.
 *
 * @since 0.1.0
 * @category guards
 */
export const isViolation = (result: CommandResult): boolean => result.blocked === true
