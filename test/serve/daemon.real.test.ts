import { daemon } from "./daemon.suite.js"

daemon("synapse exec --session")
