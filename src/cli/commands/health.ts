import type { Command } from 'commander'
import { isIPv6 } from 'node:net'
import { AdminError } from '../../admin/admin-error.ts'
import { readConfig, type Config } from '../../config/config.ts'
import { addressOf } from '../../protocol/server-address.ts'
import { reasonOf } from '../lib/discovery.ts'
import { withJson } from '../lib/options.ts'
import type { Terminal } from '../lib/terminal.ts'

interface HealthOptions {
  readonly url?: string
  readonly json?: true
}

const READY_PATH = '/health/ready'
const ANSWER_LIMIT_MS = 5000
/** The addresses that mean every address of the machine. */
const EVERY_ADDRESS: readonly string[] = ['::', '0.0.0.0']

/** `grantor health` */
export function addHealth(parent: Command, terminal: Terminal): void {
  withJson(parent.command('health'))
    .description(
      'Ask the server on this machine, at PORT, whether it can serve requests. For the health check of a container: exit code 0 means ready, 1 not ready.',
    )
    .option('--url <url>', 'ask the server at this address instead, for example the issuer')
    .action(async ({ url, json }: HealthOptions) => {
      const address = addressOf(url ?? originOf(readConfig()), READY_PATH)
      const problem = await findProblem(address)
      if (json) terminal.printJson({ address, ready: problem === undefined, problem: problem ?? null })
      else if (problem === undefined) terminal.print([`${address}: ready`])
      if (problem === undefined) return
      if (!json) throw new AdminError(`${address}: ${problem}`)
      process.exitCode = 1
    })
}

function originOf({ host, port }: Pick<Config, 'host' | 'port'>): string {
  const own = host === 'localhost' || EVERY_ADDRESS.includes(host) ? '127.0.0.1' : host
  return `http://${isIPv6(own) ? `[${own}]` : own}:${port}`
}

/** Returns why the server is not ready, in one line; undefined if it is. */
async function findProblem(address: string): Promise<string | undefined> {
  try {
    const response = await fetch(address, { redirect: 'error', signal: AbortSignal.timeout(ANSWER_LIMIT_MS) })
    return response.status === 200 ? undefined : `not ready (status ${response.status})`
  } catch (cause) {
    return `no answer (${reasonOf(cause, ANSWER_LIMIT_MS)})`
  }
}
