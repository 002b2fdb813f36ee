import { supervise } from '../../../src/cli/serve/supervisor.ts'
import { forkWorker, isWorker, serveInWorker } from '../../../src/cli/serve/workers.ts'
import { readConfig } from '../../../src/config/config.ts'

/** `grantor serve --workers 2` on a database that has the schema, with a supervisor that waits for six seconds instead of half a minute. */

if (isWorker()) await serveInWorker(readConfig())
else {
  const record = (event: object): void => console.log(JSON.stringify(event))
  const patience = { pingMs: 100, intervals: 60 }
  const { allServe, ended, stop } = supervise({
    count: 2,
    fork: (events) => forkWorker(events, () => undefined),
    record,
    patience,
  })
  process.once('SIGTERM', stop)
  if (await allServe) record({ event: 'server.ready' })
  await ended
}
