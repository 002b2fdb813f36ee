/** What docs/audit.md says about an event, in Markdown. Without `when`, the name says it all. */
export interface EventText {
  readonly when?: string
  /** The members of `details`. */
  readonly details?: string
}
