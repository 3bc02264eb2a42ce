import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { exempt } from "./exempt.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("the sandbox of an ordinary user", () => {
  exempt("and what no built-in rule hides", ground ?? "")
})
