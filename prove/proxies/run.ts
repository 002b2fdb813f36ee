import { names, readOptions, whole } from '../../tools/options.ts'
import { startPostgres } from '../../tools/postgres/postgres.ts'
import { beginSession } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { proveProxy } from './campaign.ts'
import { PROXIES } from './proxy-programs.ts'
import { proveScrape } from './scrape.ts'

/** Restarts of nodes behind nginx, Caddy and HAProxy with the shipped recipes. See docs/proofs.md. */

const {
  only,
  requests,
  restarts: wanted,
} = readOptions({
  only: names('the proxies', [...PROXIES, 'metrics'], 'all'),
  requests: whole('the least number of requests through each proxy', 20_000, [100, 10_000_000]),
  restarts: whole('the least number of restarts of nodes behind each proxy', 10, [2, 10_000]),
})

beginSession()
const findings = openFindings()
const postgres = await startPostgres({ settings: { fsync: 'on' } })
const lines: string[] = []
for (const name of only) {
  if (name === 'metrics') {
    const { url } = await postgres.createDatabase()
    const { version, health } = await proveScrape(url, findings)
    lines.push(version, ...Object.entries(health).map(([when, found]) => `  ${when}: ${found.join('; ')}`))
    continue
  }
  const result = await proveProxy(name, postgres, { requests, restarts: wanted }, findings)
  const { version, restarts, failed, repeated } = result
  lines.push(`${name} (${version})`)
  lines.push(`  restarts of nodes: ${restarts}, requests: ${result.requests}, failed: ${failed}`)
  lines.push(...result.outages.map((line) => `  ${line}`))
  lines.push(`  sent again after the reset of an idle connection: ${repeated}`)
}
await postgres.remove()
printReport('2 nodes, 8 clients, TLS', lines, findings)
