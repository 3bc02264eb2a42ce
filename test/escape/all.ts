/** Every family of attacks. */
import { together } from "../support/escape/Attack.js"
import { benign } from "./benign.js"
import { environment, launcher } from "./environment.js"
import { explore } from "./explore.js"
import { holding } from "./holders.js"
import { host, limits, ofHost, ofLimits } from "./host.js"
import { kernel } from "./kernel.js"
import { links, ofLinks } from "./links.js"
import { network } from "./network.js"
import { ofPaths, paths } from "./paths.js"
import { policy, sharedMemory } from "./policy.js"
import { hiddenPrivateDirectory, privateDirectories } from "./privateDirectories.js"
import { killing, processes } from "./processes.js"
import { forgedHome, secrets } from "./secrets.js"
import { servers } from "./servers.js"
import { temporary } from "./temporary.js"
import { ofOwn, own, writes } from "./writes.js"

/** What the kernel stands against, by the rights of who attacks: tried by both users. */
export const byRights = (ground: string): void => {
  if (ground === "") return
  together(
    ground,
    "out of the sandbox",
    {},
    { ...kernel, ...writes, ...network(ground), memory: [sharedMemory], ...processes() }
  )
  together(ground, "what is hidden meanwhile", ofHost, { ...host(), ...holding, signals: [killing] })
  environment(ground)
  privateDirectories(ground)
}

/** What Synapse decides by words, paths and hashes, whoever asks: tried by one user. Root tries these. */
export const byRoot = (ground: string): void => {
  explore(ground)
  servers(ground)
  forgedHome(ground)
  launcher(ground)
  secrets(ground)
  hiddenPrivateDirectory(ground)
  together(ground, "what is our own", ofOwn, own)
}

/** An ordinary user tries these of them. */
export const byNobody = (ground: string): void => {
  together(ground, "what is hidden", ofPaths, paths)
  together(ground, "a later session", ofLinks, links(ground))
  together(ground, "what can't be helped", ofLimits, limits)
  policy(ground)
  temporary(ground)
  benign(ground)
}
