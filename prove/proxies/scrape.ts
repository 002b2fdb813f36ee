import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../../tools/process/free-ports.ts'
import { newSecret, openServerProcess } from '../../tools/process/server.ts'
import { openFolder } from '../../tools/process/session.ts'
import type { Findings } from '../findings.ts'
import { issueCertificate } from './campaign.ts'
import { replaceAll, startProgram, startProxy, versionOf } from './proxy-programs.ts'

/** Prometheus, with the shipped configuration, scrapes two nodes over TLS through the shipped recipe of their proxies. */

export interface ScrapeResult {
  readonly version: string
  /** What Prometheus reported about the nodes, by the credentials that it sent. */
  readonly health: Readonly<Record<'with the token' | 'with a wrong token', readonly string[]>>
}

interface Target {
  readonly scrapeUrl: string
  readonly health: 'up' | 'down' | 'unknown'
  readonly lastError: string
}

const CONFIGURATION = 'deploy/prometheus/prometheus-nodes.yml'
const RULES = 'deploy/prometheus/grantor-rules.yml'
const LIMIT_MS = 30_000

export async function proveScrape(databaseUrl: string, findings: Findings): Promise<ScrapeResult> {
  const version = versionOf('prometheus', ['--version'])
  const folder = join(openFolder(), 'metrics')
  const [prometheusPort = 0, ...ports] = await freePorts(7)
  const { certificate, key } = await issueCertificate()
  const settings = {
    DATABASE_URL: databaseUrl,
    GRANTOR_ISSUER: 'https://auth.example.com',
    GRANTOR_TRUST_PROXY: '127.0.0.1',
    GRANTOR_SECRET: newSecret(),
    LOG_LEVEL: 'error',
  }
  const nodes = [ports.slice(0, 3), ports.slice(3)].map(([port = 0, admin = 0, tls = 0]) => ({
    tls,
    admin,
    folder: join(folder, String(port)),
    server: openServerProcess({ port, folder, settings: { ...settings, GRANTOR_ADMIN_PORT: String(admin) } }),
  }))
  mkdirSync(folder)
  const ends: (() => Promise<unknown>)[] = []
  try {
    for (const node of nodes) {
      mkdirSync(node.folder)
      await node.server.start()
      ends.push(node.server.stop)
      const place = { folder: node.folder, port: node.tls, nodePorts: [node.admin], certificate, key }
      ends.push((await startProxy('metrics', place)).stop)
    }
    const token = createToken(settings)
    const tokenFile = join(folder, 'token')
    writeFileSync(tokenFile, token, { mode: 0o600 })
    writeConfiguration(
      folder,
      tokenFile,
      certificate,
      nodes.map(({ tls }) => tls),
    )
    const words = [`--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${join(folder, 'data')}`]
    const address = `127.0.0.1:${prometheusPort}`
    ends.push((await startProgram('prometheus', [...words, `--web.listen-address=${address}`], prometheusPort)).stop)
    const right = await untilSettled(address, 'up')
    // Prometheus reads the file for each scrape.
    writeFileSync(tokenFile, `${token.slice(0, -4)}AAAA`)
    const wrong = await untilSettled(address, 'down')
    for (const { scrapeUrl, health, lastError } of right)
      if (health !== 'up') findings.report(`${scrapeUrl}: ${health}, ${lastError}`)
    for (const { scrapeUrl, health, lastError } of wrong)
      if (health !== 'down' || !lastError.includes('401')) findings.report(`${scrapeUrl}: ${health}, ${lastError}`)
    const report = (targets: readonly Target[]) =>
      targets.map(({ health, lastError }) => `${health} ${lastError}`.trim())
    return { version, health: { 'with the token': report(right), 'with a wrong token': report(wrong) } }
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

/** Runs the command that the configuration names. */
function createToken(settings: Readonly<Record<string, string>>): string {
  const words = ['admin', 'create', '--name', 'Prometheus', '--access', 'metrics', '--days', '365', '--json']
  const printed = execFileSync(process.execPath, ['src/cli/main.ts', ...words], {
    env: { ...process.env, ...settings },
    encoding: 'utf8',
  })
  return (JSON.parse(printed) as { readonly token: string }).token
}

function writeConfiguration(folder: string, tokenFile: string, certificate: string, ports: readonly number[]): void {
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, certificate)
  writeFileSync(join(folder, 'grantor-rules.yml'), readFileSync(RULES))
  const replacements = {
    'scrape_interval: 15s': 'scrape_interval: 1s',
    '/etc/prometheus/grantor-ca.pem': ca,
    '/etc/prometheus/grantor-token': tokenFile,
    "'10.0.0.11:3443', '10.0.0.12:3443'": ports.map((port) => `'localhost:${port}'`).join(', '),
  }
  writeFileSync(join(folder, 'prometheus.yml'), replaceAll(readFileSync(CONFIGURATION, 'utf8'), replacements))
}

/** Waits until Prometheus reports this health of all nodes. Returns what it reported last. */
async function untilSettled(address: string, wanted: Target['health']): Promise<readonly Target[]> {
  const deadline = performance.now() + LIMIT_MS
  for (;;) {
    const response = await fetch(`http://${address}/api/v1/targets?state=active`).catch(() => undefined)
    const answer = (await response?.json()) as
      | { readonly data: { readonly activeTargets: readonly Target[] } }
      | undefined
    const targets = answer?.data.activeTargets ?? []
    const isSettled = targets.length === 2 && targets.every(({ health }) => health === wanted)
    if (isSettled || performance.now() > deadline) return targets
    await delay(200)
  }
}
