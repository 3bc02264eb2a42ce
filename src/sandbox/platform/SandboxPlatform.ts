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
 * A path that the blacklist hides from the sandbox, by its real path, whatever the rule's own spelling.
 *
 * @since 0.1.0
 * @category models
 */
export interface Mask {
  readonly path: string
  readonly kind: "file" | "directory"
  readonly rule: Rule
  /** The reason why the path is masked, where the rule does not name it. */
  readonly reason?: string
  /** The text that commands read in the file's place; without it, they may not open the file. */
  readonly standIn?: string
}

/**
 * A shell, wrapped so that the policy holds for all that it runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface Wrapped {
  /** The command line to spawn. It passes its descriptor 3 on to the shell. */
  readonly spawnable: Spawnable
  /** The whole environment of the shell. */
  readonly environment: Readonly<Record<string, string>>
  /** The names of the variables that it leaves out of the given environment. */
  readonly withheld?: ReadonlyArray<string>
  /** The most processes and threads of the sandbox; undefined where nothing limits them. */
  readonly processes?: number | undefined
  /** The masks of the sandbox, by which denials are traced to their rules. */
  readonly masks: ReadonlyArray<Mask>
  /** True where it was not tested that the sandbox can start: if it does not, wrapping the shell again may succeed. */
  readonly isTrial?: boolean
  /**
   * Explains why the wrapper could not start, from its standard error; undefined where the shell did not fail for the
   * wrapper.
   */
  readonly explain?: (stderr: string) => ExecutionFailed | undefined
  /** Returns the running sandbox of the shell that was spawned with that pid. */
  readonly live?: (pid: number) => LiveSandbox
}

/**
 * A shell whose sandbox is still being worked out. Its program can be spawned already: it waits until it is told to go on.
 *
 * @since 0.1.0
 * @category models
 */
export interface Begun extends Pick<Wrapped, "environment" | "explain" | "isTrial" | "spawnable"> {
  /** Works out the rest, while the program starts, and returns what the program is to read from its descriptor 3 then. */
  readonly finish: Effect.Effect<{ readonly wrapped: Wrapped; readonly words: string }, ExecutionFailed, Scope.Scope>
}

/**
 * The options of a watch over masks.
 *
 * @since 0.1.0
 * @category models
 */
export interface WatchOptions {
  /** Tests whether a path was granted while the sandbox runs: it is not masked then. */
  readonly isGranted: (path: string) => boolean
  /** Runs a change of the mounts while no other change is made. */
  readonly exclusive: <A, E>(change: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Called when something has been masked while the sandbox runs, which its processes may hold open. */
  readonly onMasked?: () => void
}

/**
 * Keeps paths masked while a sandbox runs.
 *
 * @since 0.1.0
 * @category models
 */
export interface MaskWatch {
  /** Masks again whatever is not masked and should be. */
  readonly refresh: Effect.Effect<void, ExecutionFailed>
  /**
   * Ends the processes that hold open what has been masked while the sandbox ran; returns a sentence for each mask. With
   * `before`, in clock ticks since boot, only those that are older.
   */
  readonly evict: (before?: number) => Effect.Effect<ReadonlyArray<string>>
  /** True where something has been masked whose holders `evict` has not looked for. */
  readonly isEvictionDue: () => boolean
  /** Returns all masks that the sandbox should have, as of now. */
  readonly masks: () => ReadonlyArray<Mask>
  /** Adds masks that were found by a scan, and keeps them in place. */
  readonly learn: (found: ReadonlyArray<Mask>) => Effect.Effect<void, ExecutionFailed>
  /** True where the system refuses to tell of changes, so that directories are looked at every 100 ms. */
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
  /** Lets them go on. */
  readonly goOn: () => void
}

/**
 * Sockets in the network of a sandbox, which this process owns.
 *
 * @since 0.1.0
 * @category models
 */
export interface NetworkDoor {
  /** Opens the socket that questions for names arrive at. */
  readonly names: () => Promise<Dgram.Socket>
  /** Listens in the sandbox. */
  readonly listen: (address: string, port: number) => Promise<Net.Server>
  /** Connects to a server in the sandbox. */
  readonly connect: (address: string, port: number) => Promise<Net.Socket>
  /** Makes a block of IPv4 addresses the sandbox's own, so that connections to these arrive here. */
  readonly own: (block: string) => Promise<void>
  readonly close: () => void
}

/**
 * A running sandbox. Its changes leave the shell and the shell's state as they are; a change that is not possible fails
 * with ExecutionFailed (kind `sandbox`), and the sandbox has to be built anew for it.
 *
 * @since 0.1.0
 * @category models
 */
export interface LiveSandbox {
  /** True where the sandbox can be changed while it runs. */
  readonly canChange: boolean
  /**
   * Verifies, before the first command, that the processes run in a sandbox and that all masks are in place; fails
   * otherwise. Where files were moved meanwhile, scans again; `learn` masks what the scan finds.
   */
  readonly prove: (learn: MaskWatch["learn"] | undefined) => Effect.Effect<void, ExecutionFailed>
  /** Fails, once the first shell answers and before any command, where it is in another directory than it was to be. */
  readonly arrive: Effect.Effect<void, ExecutionFailed>
  /** Returns those of the masks that are no longer in place, because the host has replaced the file. */
  readonly lost: (masks: ReadonlyArray<Mask>) => ReadonlyArray<Mask>
  /** Walks all directories that can be written, and returns a mask for each path that the blacklist names by now. */
  readonly scan: Effect.Effect<ReadonlyArray<Mask>, ExecutionFailed>
  /** Returns the directories with a `HEAD`, as a git directory has, that the last walk found. */
  readonly heads?: () => ReadonlyArray<string>
  /**
   * Keeps the masks in place until the scope ends: the host replaces files, which removes their masks, and creates new
   * ones.
   */
  readonly watch: (options: WatchOptions) => Effect.Effect<MaskWatch, never, Scope.Scope>
  readonly addMasks: (masks: ReadonlyArray<Pick<Mask, "path" | "kind">>) => Effect.Effect<void, ExecutionFailed>
  /** Lets a path be read; fails where something else than that (`HostPath.identityOf`) is there. */
  readonly removeMask: (path: string, identity?: string) => Effect.Effect<void, ExecutionFailed>
  /**
   * Makes a path writable, and all below it that is not masked; returns the masks that had to be added below it. Fails where
   * something else than that (`HostPath.identityOf`) is there.
   */
  readonly addBind: (path: string, identity?: string) => Effect.Effect<ReadonlyArray<Mask>, ExecutionFailed>
  readonly removeBind: (path: string) => Effect.Effect<void, ExecutionFailed>
  /** Changes a path outside while the sandbox's processes are stopped, and makes what is there then read-only in it. */
  readonly protect?: (path: string, change: () => void) => Effect.Effect<void, ExecutionFailed>
  /** Tests whether the sandbox's own `/tmp` hides a path: a grant to read it is taken back by `removeBind`. */
  readonly isHidden?: (path: string) => boolean
  /**
   * Stops the processes of the sandbox that run by now, besides the shell: what is allowed for one command is not theirs.
   * Not there where nothing can be allowed while it runs.
   */
  readonly stopOthers?: Effect.Effect<Stopped, ExecutionFailed>
  /**
   * Opens the meter of the sandbox's network, which the caller has to close; undefined where the system counts nothing.
   */
  readonly network: () => NetworkMeter | undefined
  /**
   * Enters the sandbox's network, which has nothing but its loopback; fails, saying why, where that can't be done.
   *
   * @param isAsked true where programs are to ask for names in it, at 127.0.0.1
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
  /** The launcher's environment with the session's additions; the platform passes on what its allow-list names. */
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
    /** False where the platform enforces nothing; by default, it enforces the policy. */
    readonly enforces?: false
    /**
     * Returns why no sandbox can be made here for a shell of that environment, as far as that is known without an
     * attempt: what is missing, or why the last attempt failed.
     */
    readonly obstacle?: (environment: Readonly<Record<string, string>>) => string | undefined
    /** Adds what a policy has to deny on this machine as it is when a sandbox is made. */
    readonly refine?: (policy: SandboxPolicy, userHome: string) => Effect.Effect<SandboxPolicy, ExecutionFailed>
    /**
     * Wraps a shell; its resources are released when the scope closes (`platform.cleanup`, S67). Where the platform
     * can't enforce the policy, fails with ExecutionFailed (kind `sandbox`), which names what is missing and what to do
     * about it; it never runs the shell without the sandbox instead.
     */
    readonly wrap: (options: WrapOptions) => Effect.Effect<Wrapped, ExecutionFailed, Scope.Scope>
    /** Begins to wrap a shell, where its program can start before all is worked out. */
    readonly begin?: (options: WrapOptions) => Effect.Effect<Begun, ExecutionFailed, Scope.Scope>
  }
>() {}

/**
 * Begins to wrap a shell; where the platform can't, wraps it.
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
 * The platform that wraps nothing and enforces nothing: shells run with all rights of the user, and their backends have
 * no policy.
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
 * A layer of the platform that wraps nothing and enforces nothing.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerNone: Layer.Layer<SandboxPlatform> = Layer.succeed(SandboxPlatform, none)

/**
 * Tests whether a result reports a denial by the sandbox: the backend that ran the command has recognised it, and
 * filled in `blockedReason` and `blockedResource`.
 *
 * @since 0.1.0
 * @category guards
 */
export const isViolation = (result: CommandResult): boolean => result.blocked === true
