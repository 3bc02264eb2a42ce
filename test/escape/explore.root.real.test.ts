import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { explore } from "./explore.js"

const ground = Ground.take("root")

describe.skipIf(ground === undefined)("a sub-agent of root that may only read", () => explore(ground ?? ""))
