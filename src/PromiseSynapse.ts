/**
 * Implements `synapse-shell/promise` on Synapse's layers, for Effect programs that pass a Synapse to code without
 * Effect.
 *
 * @since 0.1.0
 */
import * as Path from "node:path"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as ConfigError from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import * as CommandRegistry from "./command/CommandRegistry.js"
import * as CallContext from "./domain/CallContext.js"
import * as Timeout from "./domain/Timeout.js"
import * as Todo from "./domain/Todo.js"
import * as TodoStore from "./extension/TodoStore.js"
import * as Calls from "./promise/Calls.js"
import * as Client from "./promise/Client.js"
import * as Command from "./promise/Command.js"
import { InvalidUsage } from "./promise/Command.js"
import * as CommandAdapter from "./promise/CommandAdapter.js"
import type { Settings } from "./promise/Settings.js"
import type * as PromiseInterface from "./promise/Synapse.js"
import * as Synapse from "./Synapse.js"
import type * as SandboxSettings from "./sandbox/config/SandboxSettings.js"
import * as Permission from "./sandbox/permission/Permission.js"
import * as SynapseClient from "./serve/SynapseClient.js"
import * as KeepAlive from "./session/KeepAlive.js"
import * as ToolFormat from "./toolset/ToolFormat.js"
import { Toolset } from "./toolset/Toolset.js"

/** A clock whose timers do not keep the process alive, so that periodic work ends with the program. */
const live = Clock.make()

const clock: Clock.Clock = {
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  unsafeCurrentTimeMillis: () => live.unsafeCurrentTimeMillis(),
  currentTimeMillis: live.currentTimeMillis,
  unsafeCurrentTimeNanos: () => live.unsafeCurrentTimeNanos(),
  currentTimeNanos: live.currentTimeNanos,
  sleep: (duration) =>
    Effect.async((resume) => {
      const milliseconds = Duration.toMillis(duration)
      // Sleeps that exceed setTimeout's limit never end, as with Effect's own clock.
      if (milliseconds > Timeout.longest) return
      const timer = setTimeout(() => resume(Effect.void), milliseconds).unref()
      return Effect.sync(() => clearTimeout(timer))
    })
}

/**
 * The services that the implementation needs.
 *
 * @since 0.1.0
 * @category models
 */
export type Services = Toolset | CommandRegistry.CommandRegistry | TodoStore.TodoStore

/**
 * Makes a Synapse with its own shell. It does not validate the settings, as `synapse-shell/promise` does.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = async (settings: Settings = {}): Promise<PromiseInterface.Synapse> => {
  const { commands = [], describeExtensions, onPermission, sandbox = {}, ...session } = settings
  const layer = Synapse.layer(given(session), {
    sandbox: toSandbox(sandbox),
    ...given({ describeExtensions }),
    ...(onPermission === undefined
      ? {}
      : {
          permission: Permission.layerCallback(async ({ rule: { pattern, source }, ...request }, offered) =>
            onPermission({ ...request, rule: { pattern, source } }, offered)
          )
        })
  })
  const synapse = await fromLayer(layer).catch((error) => {
    throw withName(error)
  })
  try {
    for (const command of commands) synapse.addCommand(command)
    return synapse
  } catch (error) {
    await synapse.dispose()
    throw error
  }
}

/**
 * Makes a Synapse from a layer. Rejects with InvalidUsage if the layer fails.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromLayer = async <E>(layer: Layer.Layer<Services, E>): Promise<PromiseInterface.Synapse> => {
  const runtime = ManagedRuntime.make(Layer.provide(layer, Layer.setClock(clock)))
  const built = await KeepAlive.during(
    runtime.runPromiseExit(Effect.all([Toolset, CommandRegistry.CommandRegistry, TodoStore.TodoStore]))
  )
  if (Exit.isFailure(built)) throw toThrown(built.cause)
  const [toolset, registry, store] = built.value
  const calls = Calls.make(runtime, toolset)
  let disposed: Promise<void> | undefined

  const dispose = () => {
    disposed ??= KeepAlive.during(runtime.dispose())
    return disposed
  }

  return {
    get tools() {
      return toolset.tools
    },
    toolsFor: (format) => {
      if (!ToolFormat.formats.includes(format)) {
        throw new InvalidUsage(`unknown format ${JSON.stringify(format)}: there are ${ToolFormat.formats.join(", ")}`)
      }
      // TypeScript can express this for one format, but not for a union of formats.
      return toolset.tools.map((tool) => ToolFormat.toFormat(tool, format)) as unknown as ReadonlyArray<never>
    },
    handle: (call, options) => calls.handle(disposed !== undefined, call, options),
    cancel: calls.cancel,
    addCommand: (command) => {
      const problem = Command.problemOf(command)
      if (problem !== undefined) throw new InvalidUsage(problem)
      const scope = Effect.runSync(Scope.make())
      const added = Effect.runSyncExit(Scope.extend(registry.add(CommandAdapter.toHandler(command)), scope))
      if (Exit.isFailure(added)) throw toThrown(added.cause)
      return () => Effect.runSync(Scope.close(scope, Exit.void))
    },
    todos: {
      get: () => Effect.runSync(store.get).todos,
      set: (todos) => {
        const decoded = Todo.decode({ todos })
        if (Either.isLeft(decoded)) {
          throw new InvalidUsage(decoded.left.map(({ message, path }) => `${path}: ${message}`).join("\n"))
        }
        Effect.runSync(store.set(decoded.right))
      },
      onChange: (listener) => Effect.runSync(store.subscribe(({ todos }) => listener(todos)))
    },
    dispose,
    [Symbol.asyncDispose]: dispose
  }
}

/**
 * Makes a client of the daemon. It does not validate the settings, as `synapse-shell/promise` does.
 *
 * @since 0.1.0
 * @category constructors
 */
export const connect = (settings: Client.ClientSettings = {}): Client.Client => {
  const client = SynapseClient.make(given(settings))
  const thrown = <A>(effect: Effect.Effect<A, SynapseClient.DaemonError>) =>
    Effect.mapError(effect, ({ message, reason }) => new Client.DaemonError(reason, message))
  const promise = async <A>(effect: Effect.Effect<A, SynapseClient.DaemonError>): Promise<A> => {
    const exit = await Effect.runPromiseExit(thrown(effect))
    if (Exit.isSuccess(exit)) return exit.value
    throw Cause.squash(exit.cause)
  }
  const check = (...given: Parameters<typeof Client.problemOf>) => {
    const problem = Client.problemOf(...given)
    if (problem !== undefined) throw new InvalidUsage(problem)
  }
  return {
    session: (name, options = {}) => {
      check("session option", options)
      const session = client.session(String(name), given(options))
      return {
        name: session.name,
        run: (command, options = {}) => {
          check("option", options)
          const { timeout } = options
          const running = thrown(session.run(String(command)))
          const handled = timeout === undefined ? running : CallContext.locally(running, { timeout })
          return Calls.start({ id: "", name: "Bash" }, handled, Effect.runFork, options)
        },
        close: () => promise(session.close)
      }
    },
    list: () => promise(client.list)
  }
}

/** Drops undefined settings, which would otherwise override the environment. */
const given = <A extends object>(settings: A) =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof A]?: Exclude<A[K], undefined>
  }

const toSandbox = (sandbox: Exclude<Settings["sandbox"], undefined>): Partial<SandboxSettings.Settings> => {
  if (typeof sandbox === "boolean") return { enabled: sandbox }
  const { allow = [], deny = [], home, temporary, ...others } = sandbox
  return {
    ...given({ ...others, temporaryFiles: temporary, home: home === undefined ? undefined : Path.resolve(home) }),
    whitelist: allow,
    blacklist: deny
  }
}

/** Matches the settings that are checked when the app is built. */
const checked = /^(?:cwd|shellCommand|sandbox\..*)$/

/** Reports a setting that can't work under the name that the program used. */
const withName = (error: unknown): unknown => {
  const cause = error instanceof InvalidUsage ? error.cause : undefined
  if (!ConfigError.isConfigError(cause) || cause._op !== "InvalidData") return error
  const path = cause.path.join(".")
  if (!checked.test(path)) return error
  const name = path.replace(/^sandbox\.whitelist/, "sandbox.allow").replace(/^sandbox\.blacklist/, "sandbox.deny")
  return new InvalidUsage(`the setting "${name}" can't work: ${cause.message}`, { cause })
}

const toThrown = (cause: Cause.Cause<unknown>): unknown => {
  const thrown = Cause.squash(cause)
  if (!Cause.isFailure(cause)) return thrown
  const message = Predicate.hasProperty(thrown, "message") ? String(thrown.message) : String(thrown)
  return new InvalidUsage(message, { cause: thrown })
}
