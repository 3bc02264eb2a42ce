import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { grants } from "./grants.suite.js"
import { local } from "./LocalSandboxBackend.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("the sandbox of an ordinary user", () => {
  local("with real shells in it", ground ?? "", Ground.isSecond())
  grants("with rights that are given while it runs", ground ?? "", Ground.isSecond())
})
