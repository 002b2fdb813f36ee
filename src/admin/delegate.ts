import * as z from 'zod'
import type { Context } from '../ports/context.ts'
import type { AdminCredentialRecord } from '../ports/records/admin.ts'
import { ADMIN_CREDENTIAL, ADMIN_CREDENTIAL_DOCUMENT, createAdminCredential } from './admin.ts'
import { requireLasting } from './administrators.ts'
import { PAGE_LIMIT } from './page.ts'
import { defineTask, type Task } from './task.ts'

/** Days. They are replaced by hand, because the application has to get the new ones. */
const DAYS = { most: 365, usual: 365 } as const

/** The tasks of operators for delegated sign-in. */
export const DELEGATE_TASKS: readonly Task[] = [
  defineTask({
    name: 'delegate.create-credentials',
    method: 'POST',
    path: '/admin/v1/delegate/credentials',
    access: 'write',
    creates: true,
    summary:
      'Create the credentials of the application that signs users in. Its previous credentials stop working. The token is shown once.',
    isFinal: true,
    secret: { member: 'token' },
    input: z.object({
      days: z.int().min(1).max(DAYS.most).default(DAYS.usual).describe('How many days the credentials are valid.'),
    }),
    output: ADMIN_CREDENTIAL_DOCUMENT.extend({ token: z.string() }).meta({ id: 'NewDelegateCredential' }),
    async run(context, { days }) {
      requireLasting(context.administrator, 'create the credentials of the application that signs users in')
      const { credential, token } = await createDelegateCredentials(context, days)
      return { ...ADMIN_CREDENTIAL.show(credential), token }
    },
  }),
]

/** Creates the credentials, and then revokes the previous ones. */
export async function createDelegateCredentials(
  context: Context,
  days: number,
): ReturnType<typeof createAdminCredential> {
  const previous = await findDelegateCredentials(context)
  const options = { name: 'Delegated sign-in', access: 'delegate', organizationId: undefined, days } as const
  const created = await createAdminCredential(context, options)
  const now = context.clock()
  await Promise.all(previous.map(({ id }) => context.store.revokeAdminCredential({ id, now })))
  return created
}

/** Returns the credentials of the application that are not revoked. They may have expired. */
async function findDelegateCredentials({ store }: Context): Promise<readonly AdminCredentialRecord[]> {
  const found: AdminCredentialRecord[] = []
  for (let before: AdminCredentialRecord['id'] | undefined; ;) {
    const page = await store.listAdminCredentials({ before, limit: PAGE_LIMIT.most })
    found.push(...page.filter(({ access, revokedAt }) => access === 'delegate' && revokedAt === undefined))
    if (page.length < PAGE_LIMIT.most) return found
    before = page.at(-1)?.id
  }
}
