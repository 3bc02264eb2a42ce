import { describe } from "@effect/vitest"
import * as Ground from "../../support/escape/Ground.js"
import { suite } from "./Job.suite.js"

const ground = Ground.take("root")

describe.skipIf(ground === undefined)("root", () => suite("has jobs", ground ?? ""))
