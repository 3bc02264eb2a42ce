/** Every family of attacks. */
import { benign } from "./benign.js"
import { environment } from "./environment.js"
import { holding } from "./holders.js"
import { host } from "./host.js"
import { kernel } from "./kernel.js"
import { links } from "./links.js"
import { network } from "./network.js"
import { paths } from "./paths.js"
import { policy } from "./policy.js"
import { privateDirectories } from "./privateDirectories.js"
import { processes } from "./processes.js"
import { secrets } from "./secrets.js"
import { servers } from "./servers.js"
import { temporary } from "./temporary.js"
import { writes } from "./writes.js"

export const all = (ground: string): void => {
  paths(ground)
  kernel(ground)
  writes(ground)
  links(ground)
  network(ground)
  processes(ground)
  environment(ground)
  host(ground)
  holding(ground)
  policy(ground)
  servers(ground)
  secrets(ground)
  temporary(ground)
  privateDirectories(ground)
  benign(ground)
}
