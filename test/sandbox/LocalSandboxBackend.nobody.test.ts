import { describe } from "@effect/vitest"
import * as Ground from "../escape/Ground.js"
import { grants } from "./grants.js"
import { local } from "./local.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("the sandbox of an ordinary user", () => {
  local("with real shells in it", ground ?? "")
  grants("with rights that are given while it runs", ground ?? "")
})
