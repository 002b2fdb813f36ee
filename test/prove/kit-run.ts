import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { DRIVERS } from '../../prove/kit/drivers.ts'
import { judge, type Judgement } from '../../prove/kit/judge.ts'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { freePorts } from '../../tools/process/free-ports.ts'
import { createAda } from '../support/accounts.ts'
import { openTestServer } from '../support/server.ts'
import { PLANTED } from './kit-planted.ts'
import { openKitProxy, together, type Wrong } from './kit-proxy.ts'

/** Its wrong is before the second address. */
const AT_SECOND = 'RACE-06'

/** Judges a server of this checkout behind a proxy with the wrongs of these cases, at two addresses. */
export async function judgePlanted(t: TestContext, ids: readonly string[]): Promise<Judgement> {
  const [first = 0, second = 0] = await freePorts(2)
  const issuer = `http://localhost:${first}`
  let server = await openTestServer(t, { env: { GRANTOR_ISSUER: issuer } })
  await createAda(server)
  const open = (id: string): Wrong => (PLANTED[id] ?? assert.fail(`${id} has no planted wrong.`))()
  const wrong = together(ids.filter((id) => id !== AT_SECOND).map(open))
  await openKitProxy(t, first, () => server, wrong)
  await openKitProxy(t, second, () => server, together(ids.filter((id) => id === AT_SECOND).map(open)))
  const { grantor: driver = assert.fail() } = DRIVERS
  return judge({
    issuer: new URL(issuer),
    second: new URL(`http://localhost:${second}`),
    driver,
    account: { name: EMAIL, password: PASSWORD },
    async restart() {
      server = await server.reopen()
      wrong.restarted?.()
    },
    rounds: 1,
    only: [],
    seed: 'planted',
    isOwn: false,
    onInterrupt: () => undefined,
  })
}

/** Which cases did not pass, each with its result. */
export function notPassed({ results }: Judgement): Readonly<Record<string, string>> {
  return Object.fromEntries(results.filter(({ result }) => result !== 'passed').map(({ id, result }) => [id, result]))
}
