/** A manager over this machine's own sandbox, in an app of its own: a project, and a user with secrets. */
import * as Fs from "node:fs"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Bridge from "../../../src/bridge/Bridge.js"
import * as CommandRegistry from "../../../src/command/CommandRegistry.js"
import * as SandboxSettings from "../../../src/sandbox/config/SandboxSettings.js"
import * as LocalSandboxProvider from "../../../src/sandbox/LocalSandboxProvider.js"
import * as Permission from "../../../src/sandbox/permission/Permission.js"
import * as LinuxPlatform from "../../../src/sandbox/platform/linux/LinuxPlatform.js"
import type { SandboxManager } from "../../../src/sandbox/SandboxManager.js"
import type { SandboxProvider } from "../../../src/sandbox/SandboxProvider.js"
import * as Jobs from "../../../src/session/Jobs.js"
import * as JobTable from "../../../src/session/JobTable.js"
import * as SessionSettings from "../../../src/session/SessionSettings.js"
import { type Options, withManager } from "./Managed.js"

export type Manager = Context.Tag.Service<SandboxManager>

export interface Place {
  /** The project: whitelisted, and the current directory. */
  readonly project: string
  /** Its parent, and `home`'s, which is not. */
  readonly outside: string
  readonly provider: SandboxProvider
  /** What its commands have left running. */
  readonly jobs: Context.Tag.Service<Jobs.Jobs>
}

const place = Effect.fnUntraced(function* (ground: string) {
  const outside = yield* Effect.acquireRelease(
    Effect.sync(() => Fs.mkdtempSync(`${ground}/app-`)),
    (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, force: true }))
  )
  for (const name of ["project", "home", "user", "user/.ssh"]) Fs.mkdirSync(`${outside}/${name}`)
  Fs.writeFileSync(`${outside}/user/.ssh/id_rsa`, "key\n")
  Fs.writeFileSync(`${outside}/project/.env`, "TOKEN=1\n")
  const [provider, jobs] = yield* Effect.provide(
    Effect.all([LocalSandboxProvider.make, Jobs.Jobs]),
    Layer.mergeAll(
      Layer.fresh(Layer.provideMerge(Jobs.layer, JobTable.layer)),
      Layer.provide(Bridge.layer, CommandRegistry.layer),
      LinuxPlatform.layer,
      SandboxSettings.layer({ userHome: `${outside}/user` }),
      SessionSettings.layer()
    )
  )
  return { project: `${outside}/project`, outside, provider, jobs }
})

/** Runs in an app on a ground of the test's own (`Ground.take`). */
export const sandboxedOn =
  (ground: string) =>
  <A, E>(
    use: (manager: Manager, place: Place) => Effect.Effect<A, E>,
    options: Partial<Options> = {},
    blacklist: ReadonlyArray<string> = []
  ) =>
    Effect.scoped(
      Effect.flatMap(place(ground), (at) =>
        withManager(
          at.provider,
          {
            home: `${at.outside}/home`,
            cwd: at.project,
            ...options,
            settings: {
              userHome: `${at.outside}/user`,
              temporary: `${at.outside}/tmp`,
              blacklist,
              ...options.settings
            }
          },
          (manager) => use(manager, at)
        )
      )
    )

/** Allows what is asked for: `answers` in order, then nothing. */
export const allowing = (...answers: ReadonlyArray<Permission.Answer>) => {
  const left = [...answers]
  return { permission: Permission.layerCallback(() => Effect.sync(() => left.shift() ?? "deny")) }
}
