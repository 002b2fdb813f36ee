import type { Endpoint } from './endpoints.ts'
import type { Stage } from './measure.ts'
import { get, post } from './post.ts'
import type { Answer, Bodies } from './slice.ts'

/** Gets one right answer, which the bare server then repeats. */
export async function takeSample({ subject, bare }: Stage, endpoint: Endpoint): Promise<Answer> {
  const bodies = await endpoint.prepare(1, 1)
  const body = firstBody(bodies)
  const { method, path, contentType } = endpoint
  const sample = method === 'GET' ? await get(subject.port, path) : await post(subject.port, path, contentType, body)
  if (sample.status !== endpoint.status || !sample.body.includes(endpoint.contains)) {
    throw new Error(`${endpoint.name} answers ${sample.status} ${sample.body}`)
  }
  endpoint.carryOn?.({ total: 1, tokens: [] })
  await bare.imitate(sample)
  return sample
}

function firstBody(bodies: Bodies): string {
  switch (bodies.kind) {
    case 'same':
      return bodies.body
    case 'numbered':
      return `${bodies.before}${String(bodies.first).padStart(9, '0')}${bodies.after}`
    case 'once':
      return bodies.bodies[0] ?? ''
    case 'chain':
      return bodies.before + (bodies.tokens[0] ?? '')
  }
}
