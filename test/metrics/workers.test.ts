import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPostgresPlace, serve, untilLogged, type Place } from '../support/process.ts'
import { parseScrape, type Scraped } from '../support/scraped.ts'
import { openSession } from '../support/store/postgres.ts'

const REGISTRATION = {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Connection: 'close' },
  body: '{"grant_types":["client_credentials"]}',
}

/** Over a new connection each time, so that each worker has its turn. */
async function scrapeAt({ adminPort }: Place): Promise<Scraped> {
  const answer = await fetch(`http://127.0.0.1:${adminPort}/metrics`, { headers: { Connection: 'close' } })
  assert.equal(answer.status, 200)
  return parseScrape(await answer.text())
}

function sumOf({ samples }: Scraped, name: string, labels: Readonly<Record<string, string>>): number {
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0)
}

test('a scrape of any worker has all workers, also a restarted one, and each writes its own figures', async (t) => {
  const place = await openPostgresPlace(t)
  const server = await serve(place, { flags: ['--workers', '2'] })
  const registrations = 12
  for (let count = 0; count < registrations; count += 1) {
    const answer = await fetch(`${place.issuer}/v2/oauth/register`, REGISTRATION)
    assert.equal(answer.status, 201)
    await answer.arrayBuffer()
  }
  const registered = { endpoint: 'register', status: '201' }
  for (let count = 0; count < 4; count += 1) {
    const scraped = await scrapeAt(place)
    assert.equal(sumOf(scraped, 'grantor_requests_total', registered), registrations)
    assert.deepEqual(
      ['1', '2'].map((worker) => scraped.value('grantor_up', { worker })),
      [1, 1],
    )
  }
  const both = await scrapeAt(place)
  const shares = ['1', '2'].map((worker) => both.value('grantor_requests_total', { worker, ...registered }))
  assert.ok(
    shares.every((share) => share > 0 && share < registrations),
    'each worker counts for itself',
  )

  const [, victim = ''] = /"pid":(\d+),"event":"client\.registered"/.exec(server.stdout()) ?? []
  process.kill(Number(victim), 'SIGKILL')
  await untilLogged(server, `"event":"worker.ended","pid":${victim}`)
  let scraped = await scrapeAt(place)
  while (scraped.samples.filter(({ name }) => name === 'grantor_up').length < 2) scraped = await scrapeAt(place)
  const workers = new Set(
    scraped.samples.map(({ labels }) => labels['worker']).filter((worker) => worker !== undefined),
  )
  assert.deepEqual([...workers].toSorted(), ['1', '2'], 'the successor has the number of the one that ended')
  assert.ok(sumOf(scraped, 'grantor_requests_total', registered) < registrations)
  const left = sumOf(await scrapeAt(place), 'grantor_requests_total', registered)
  server.child.kill('SIGTERM')
  assert.equal((await server.exited).code, 0)
  // Also those of the worker that was killed, if it wrote a row before.
  const database = await openSession(t, place.environment['DATABASE_URL'] ?? '')
  const { rows } = await database.query<{ counts: string }>(`select counts from figures where span = '5m'`)
  const written = rows.reduce((sum, { counts }) => sum + (JSON.parse(counts).registrations?.registration ?? 0), 0)
  assert.ok(
    written >= left && written <= registrations,
    `${left} to ${registrations} registrations, ${written} written`,
  )
})
