import { AdminError } from '../../admin/admin-error.ts'
import { findByName, type Seeker } from '../../admin/find-by-name.ts'
import { findField, type InputField } from './input-fields.ts'
import type { Texts } from './form.ts'

/** The texts of a form with the ids of what they name, or the sentences beside the fields whose text names nothing, or several. */
export interface ResolvedFields {
  readonly values: Texts
  readonly errors: Texts
}

/** Finds what the fields of a form name. Each form may give a user something. */
export async function resolveFields(
  seeker: Seeker,
  fields: readonly InputField[],
  texts: Texts,
): Promise<ResolvedFields> {
  const values: Record<string, string> = {}
  const errors: Record<string, string> = {}
  for (const [path, text] of Object.entries(texts)) {
    values[path] = text
    const referred = findField(fields, path)?.refersTo
    if (referred === undefined || text.trim() === '') continue
    const found = await findByName(seeker, referred, text.trim(), true)
    if (found instanceof AdminError) errors[path] = found.message
    else values[path] = found
  }
  return { values, errors }
}
