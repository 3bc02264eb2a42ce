import * as Fs from "node:fs"
import * as Os from "node:os"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Diagnostic from "../../src/domain/Diagnostic.js"
import * as Ground from "../support/escape/Ground.js"
import { sandboxedOn } from "../support/sandbox/LocalApp.js"
import { notices } from "../support/Told.js"

const ground = Ground.take("root")
const isBash = /\/bash$/.test(Os.userInfo().shell ?? "")

describe.skipIf(ground === undefined || !isBash)("the environment of the login shell", () => {
  const sandboxed = sandboxedOn(ground ?? "")
  const variables = 'echo "${ASDF_DATA_DIR-} ${MY_TOKEN-} ${OTHER-}"; echo "$PATH"'

  it.live("is read where sandbox.json says so, but for secrets and what no sandbox gets", () =>
    sandboxed(({ execute }, { outside }) => {
      Fs.writeFileSync(`${outside}/home/sandbox.json`, '{"profile": true}')
      const exported = "export ASDF_DATA_DIR=/opt/asdf MY_TOKEN=hunter OTHER=x PATH=/opt/node/bin:$PATH"
      Fs.writeFileSync(`${outside}/user/.bash_profile`, `${exported}\n`)
      return Effect.map(execute(variables), ({ diagnostics, stdout }) => {
        assert.match(stdout, /^\/opt\/asdf {2}\n(?:.*:)?\/opt\/node\/bin:/)
        assert.match(
          notices({ diagnostics })?.join() ?? "",
          /^The sandbox leaves OTHER, MY_TOKEN out of the environment;/
        )
      })
    })
  )

  it.live("is told to be missing, once, where the shell fails", () =>
    sandboxed(({ execute }, { outside }) => {
      Fs.writeFileSync(`${outside}/home/sandbox.json`, '{"profile": true}')
      Fs.writeFileSync(`${outside}/user/.bash_profile`, "exit 4\n")
      return Effect.gen(function* () {
        const { diagnostics } = yield* execute(":")
        const forPerson = diagnostics?.map((each) => Diagnostic.forPerson(each))
        assert.strictEqual(forPerson?.join(), notices({ diagnostics })?.join())
        assert.match(
          notices({ diagnostics })?.join() ?? "",
          /^The environment of the login shell \(.*\) is not used: it ended with exit code 4\.$/
        )
        assert.isUndefined(notices(yield* execute(":")))
      })
    })
  )

  it.live("is not read otherwise", () =>
    sandboxed(({ execute }, { outside }) => {
      Fs.writeFileSync(`${outside}/user/.bash_profile`, `touch ${outside}/ran\n`)
      return Effect.map(execute(":"), () => assert.isFalse(Fs.existsSync(`${outside}/ran`)))
    })
  )
})
