import { describe } from "@effect/vitest"
import * as Ground from "../../support/escape/Ground.js"
import { network } from "./network.suite.js"

const ground = Ground.take("root")

describe.skipIf(ground === undefined)("the sandbox of root", () => {
  network("and hosts by name", ground ?? "")
})
