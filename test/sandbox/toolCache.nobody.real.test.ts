import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { toolCache } from "./toolCache.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("the sandbox of an ordinary user", () => {
  toolCache("and the caches of tools", ground ?? "")
})
