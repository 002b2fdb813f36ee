import type * as z from 'zod'

/** A member that may be null. What null means is beside its text, because a form and a command have another word for null. */
export function orNull<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  nullMeans: string,
): z.ZodOptional<z.ZodNullable<Schema>> {
  return schema.nullable().optional().meta({ description: text, nullMeans })
}

/**
 * `override` of `z.toJSONSchema` for readers who send JSON: the description of a member says what null means. What a form says in its place
 * is left out.
 */
export function sayNull({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  delete jsonSchema['help']
  const { description, nullMeans } = jsonSchema
  if (typeof nullMeans !== 'string') return
  jsonSchema.description = `${description} null: ${nullMeans}.`
  delete jsonSchema['nullMeans']
}
