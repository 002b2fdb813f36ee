import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { SHARED_CLUSTER, startPostgres } from '../../tools/postgres/postgres.ts'

/** Bun is installed with the peers, because the product runs on Node.js. Each kind of machine has a folder. */
const BINARIES = new URL('../peers/node_modules/@oven/*/bin/bun', import.meta.url).pathname
const FLOW = './test/endpoints/flow.test.ts'

/** The path of Bun. Throws an error with instructions if it is not installed. */
export function findBun(): string {
  const found = globSync(BINARIES).find((binary) => spawnSync(binary, ['--version']).status === 0)
  if (found === undefined) throw new Error('Bun is not installed: npm install --prefix bench/peers')
  return found
}

/** Runs the flow tests on Bun with both stores. Throws an error with their output if one fails. */
export async function requireFlowTests(): Promise<void> {
  const bun = findBun()
  const cluster = await startPostgres()
  try {
    const env = { ...process.env, [SHARED_CLUSTER]: cluster.adminUrl() }
    const { status, stderr, stdout } = spawnSync(bun, ['test', FLOW], {
      encoding: 'utf8',
      env,
      cwd: new URL('../../', import.meta.url),
    })
    if (status !== 0) throw new Error(`The flow tests fail on Bun:\n${stdout}${stderr}`)
  } finally {
    await cluster.remove()
  }
}
