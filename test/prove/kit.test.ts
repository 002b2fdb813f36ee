import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { ALL_CASES } from '../../prove/kit/cases/all.ts'
import type { Judgement } from '../../prove/kit/judge.ts'
import { exitCodeOf } from '../../prove/kit/report.ts'
import { installRelease } from '../../prove/upgrade/releases.ts'
import { packFolder } from '../../release/build.ts'
import { buildKit, KIT_COMMAND } from '../../release/kit.ts'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { startChildServer } from '../crash/child-server.ts'
import { createAda } from '../support/accounts.ts'
import { openTestServer, temporaryFolder } from '../support/server.ts'
import { judgePlanted, notPassed } from './kit-run.ts'

/** Wrongs of different cases in one run, so that they take less time. The file kit.long.ts has each of them alone. */
const GROUPS = Map.groupBy(
  ALL_CASES.map(({ id }) => id),
  (id) => id.replace(/^\D+/, ''),
)

for (const ids of GROUPS.values())
  test(`grantor-prove: what is planted for ${ids.join(', ')} is found by these cases alone`, async (t) => {
    const judgement = await judgePlanted(t, ids)
    const planted = ALL_CASES.filter(({ id }) => ids.includes(id))
    const expected = planted.map(({ id, level }) => [id, level === 'must' ? 'failed' : 'warning'])
    assert.deepEqual(notPassed(judgement), Object.fromEntries(expected), JSON.stringify(judgement))
    assert.equal(exitCodeOf(judgement), planted.some(({ level }) => level === 'must') ? 1 : 0)
  })

test('grantor-prove: a server passes the 20 cases of the packed program, at two addresses, and killed', async (t) => {
  const folder = temporaryFolder(t)
  const packed = packFolder(await buildKit(join(folder, 'package')), KIT_COMMAND)
  const kit = installRelease(join(folder, 'project'), packed)
  const server = await openTestServer(t, { folder })
  await createAda(server)
  await server.close()
  const [port = 0, restartPort = 0] = await freePorts(2)
  const settings = { PORT: String(port), GRANTOR_ISSUER: `http://localhost:${port}` }
  let child = await startChildServer(t, folder, settings)
  const restarter = createServer((_, response) => {
    void child
      .kill()
      .then(() => startChildServer(t, folder, settings))
      .then((next) => {
        child = next
        response.end()
      })
  })
  restarter.listen(restartPort)
  t.after(() => restarter.close().closeAllConnections())
  const password = join(folder, 'password')
  writeFileSync(password, `${PASSWORD}\n`)

  const run = async (...words: readonly string[]): Promise<{ code: unknown; printed: string }> => {
    const program = spawn(process.execPath, [join(kit, KIT_COMMAND), `http://localhost:${port}`, ...words])
    let printed = ''
    for (const stream of [program.stdout, program.stderr])
      stream.on('data', (part: Buffer) => (printed += part.toString()))
    const [code] = (await once(program, 'close')) as [number]
    return { code, printed }
  }
  const restart = `"${process.execPath}" -e "fetch('http://localhost:${restartPort}')"`
  const person = ['--driver', 'grantor', '--person', EMAIL, '--password-file', password]
  const all = await run(...person, '--address', `http://127.0.0.1:${port}`, '--restart', restart, '--format', 'json')
  assert.equal(all.code, 0, all.printed)
  const judgement = JSON.parse(all.printed) as Judgement
  assert.equal(judgement.results.length, 20)
  assert.deepEqual(notPassed(judgement), {})
  // A public client, and two whose answers were lost.
  assert.equal(judgement.clientsLeft, 3)

  const few = await run()
  assert.equal(few.code, 0, few.printed)
  assert.match(few.printed, /skipped {2}CRASH-01 .*\n +Not run: it kills the issuer and needs --restart\./)
  assert.match(few.printed, /passed {3}CLIENT-04 /)
  for (const [words, found] of [
    [['--only', 'RACE-99'], /There is no case RACE-99/],
    [['--driver', 'unknown'], /There is no driver unknown/],
    [['--person', 'ada'], /belong together/],
  ] as const) {
    const { code, printed } = await run(...words)
    assert.equal(code, 2)
    assert.match(printed, found)
  }
})
