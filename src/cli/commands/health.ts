import type { Command } from 'commander'
import { AdminError } from '../../admin/admin-error.ts'
import { readConfig } from '../../config/config.ts'
import type { ReadinessProbe } from '../../ports/inspection.ts'
import { withJson } from '../lib/options.ts'
import { ownOrigin, probeReadiness } from '../lib/readiness.ts'
import type { Terminal } from '../lib/terminal.ts'

interface HealthOptions {
  readonly url?: string
  readonly json?: true
}

/** `grantor health` */
export function addHealth(parent: Command, terminal: Terminal): void {
  withJson(parent.command('health'))
    .description(
      'Ask the server on this machine, at PORT, whether it can serve requests. Exit code 0 means ready, 1 not ready.',
    )
    .option('--url <url>', 'ask the server at this address instead, for example the issuer')
    .action(async ({ url, json }: HealthOptions) => {
      const probe = await probeReadiness(url ?? ownOrigin(readConfig()))
      const { address } = probe
      const problem = problemOf(probe)
      if (json) terminal.printJson({ address, ready: problem === undefined, problem: problem ?? null })
      else if (problem === undefined) terminal.print([`${address}: ready`])
      if (problem === undefined) return
      if (!json) throw new AdminError(`${address}: ${problem}`)
      process.exitCode = 1
    })
}

function problemOf(probe: ReadinessProbe): string | undefined {
  switch (probe.kind) {
    case 'ready':
      return undefined
    case 'not-ready':
      return `not ready (${probe.message.replace(/\.$/, '')})`
    case 'unreachable':
      return `no answer (${probe.message})`
  }
}
