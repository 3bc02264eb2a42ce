import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { exempt } from "./exempt.suite.js"

const ground = Ground.take("root")

describe.skipIf(ground === undefined)("the sandbox of root", () => {
  exempt("and what no built-in rule hides", ground ?? "")
})
