import * as z from 'zod'
import type { OrganizationId } from '../../protocol/ids.ts'
import { ORGANIZATION_ID } from '../fields.ts'
import { type Access, defineTask, type Manner, type Task, type TaskContext } from '../task.ts'
import { requireOrganization } from './organization.ts'

/** A task on records that the server has, and that each organization has too. */
interface BothTask<Input extends z.ZodObject, Own extends z.ZodObject, Output extends z.ZodObject> extends Manner {
  readonly verb: string
  readonly method: Task['method']
  /** After the path of the records. */
  readonly path: string
  readonly access: Access
  readonly summary: string
  readonly creates?: true
  /** The verb that takes it back. */
  readonly undo?: string
  readonly gives?: true
  readonly exactlyOneOf?: readonly string[]
  readonly input: Input
  /** The input for an organization, without the id of that. */
  readonly own: Own
  readonly output: Output
  /** `organizationId`: of the path; undefined: the administrator may see all records. */
  readonly run: (
    context: TaskContext,
    input: z.output<Input>,
    organizationId: OrganizationId | undefined,
  ) => Promise<z.output<Output>>
}

/** The task on `<noun>s` below `/admin/v1` for those of the server, and below the path of an organization for its own. */
export function bothTasks<Input extends z.ZodObject, Own extends z.ZodObject, Output extends z.ZodObject>(
  noun: string,
  { verb, path, input, own, run, undo, ...task }: BothTask<Input, Own, Output>,
): readonly Task[] {
  const named = (name: string) => ({ name: `${name}.${verb}`, ...(undo !== undefined && { undo: `${name}.${undo}` }) })
  return [
    defineTask({
      ...task,
      ...named(noun),
      path: `/admin/v1/${noun}s${path}`,
      input,
      run: (context, given) => run(context, given, undefined),
    }),
    defineTask({
      ...task,
      ...named(`organization-${noun}`),
      path: `/admin/v1/organizations/{organization_id}/${noun}s${path}`,
      extent: 'organization',
      input: z.object({ organization_id: ORGANIZATION_ID, ...own.shape }),
      async run(context, given) {
        const { organization_id: organizationId, ...members } = given as { readonly organization_id: OrganizationId }
        await requireOrganization(context, organizationId)
        return run(context, members as z.output<Input>, organizationId)
      },
    }),
  ]
}
