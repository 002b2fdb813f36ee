import * as z from 'zod'
import { KEY_PURPOSES, type KeyRecord } from '../../ports/records/key.ts'
import { ISO, iso } from '../../base/iso.ts'
import { defineTask, type Task } from '../task.ts'
import { listKeys, retireKey, rotateKeys } from './key.ts'

const PATH = '/admin/v1/keys'
const ALGORITHM = z.enum(['ES256', 'EdDSA', 'RS256'])
const PURPOSE = z.enum(KEY_PURPOSES).describe('What the key signs: access tokens, or ID tokens.')

/** A signing key in an answer: never its private part. */
const KEY_DOCUMENT = z
  .object({
    kid: z.string(),
    purpose: PURPOSE,
    algorithm: ALGORITHM,
    created_at: ISO,
    active_from: ISO.describe('The key signs from this time, until the next key does.'),
  })
  .meta({ id: 'Key' })

export type KeyDocument = z.output<typeof KEY_DOCUMENT>

export const KEY_TASKS: readonly Task[] = [
  defineTask({
    name: 'key.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the published signing keys and their states.',
    input: z.object({}),
    output: z.object({
      keys: z.array(KEY_DOCUMENT.extend({ state: z.string().describe('What the key is used for now.') })),
    }),
    async run(context) {
      const keys = await listKeys(context)
      return { keys: keys.map((key) => ({ ...describeKey(key), state: key.state })) }
    },
  }),
  defineTask({
    name: 'key.rotate',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    summary: 'Create the next signing key. It is published at once and signs a day later.',
    needsRecentSignIn: true,
    input: z.object({
      now: z
        .boolean()
        .default(false)
        .describe(
          'Sign with the key in ten seconds, even though verifiers may not have fetched it. Use it when the current key leaked.',
        ),
      purpose: PURPOSE.default('access'),
      algorithm: ALGORITHM.optional().describe(
        'The algorithm of the key; by default the algorithm of the server, and RS256 for ID tokens.',
      ),
    }),
    output: KEY_DOCUMENT,
    run: async (context, { now, purpose, algorithm }) =>
      describeKey(await rotateKeys(context, { when: now ? 'now' : 'published', purpose, algorithm })),
  }),
  defineTask({
    name: 'key.retire',
    method: 'DELETE',
    path: `${PATH}/{kid}`,
    access: 'write',
    // With a clock that is ahead, the key that signs now would count as replaced.
    anyClock: false,
    summary: 'Withdraw a signing key that leaked: tokens that it signed are rejected from now on.',
    input: z.object({
      kid: z
        .string()
        .min(1)
        .meta({ examples: ['01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'] })
        .describe("The key's id."),
    }),
    output: z.object({ kid: z.string(), retired: z.literal(true) }),
    run: async (context, { kid }) => ({ kid: await retireKey(context, kid), retired: true as const }),
  }),
]

function describeKey({ id, purpose, algorithm, createdAt, activeFrom }: KeyRecord): z.output<typeof KEY_DOCUMENT> {
  return { kid: id, purpose, algorithm, created_at: iso(createdAt), active_from: iso(activeFrom) }
}
