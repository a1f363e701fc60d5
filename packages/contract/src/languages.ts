/** Languages of pages and mails. */
export const languages = ['en', 'fr'] as const
