import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { client } from '../../client.ts'
import { type Datasource, trackingQuery } from '../../data/datasources.ts'
import { useMay } from '../../data/profile.ts'
import { useTexts } from '../../texts/texts.ts'
import { CopyAs } from '../../ui/copy-as.tsx'
import { Switch } from '../../ui/field.tsx'
import { Item, ItemList } from '../../ui/item-list.tsx'
import { Card } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './data.module.css'
import { words } from './texts.ts'

/** Which datasources take events of persons who have consented, and no others. */
export function ConsentTab() {
  const t = useTexts(words)
  const mayChange = useMay('datasource:update')
  const queries = useQueryClient()
  const datasources = useQuery(trackingQuery)
  const change = useMutation({
    mutationFn: ({ id, consent }: { id: string; consent: 'require' | 'ignore' }) =>
      client.updateDatasource({ params: { id }, body: { consent } }),
    onSuccess: ({ consent }) => toast.say(consent === 'require' ? t.consentRequired : t.consentIgnored),
    onError: (error) => toast.fail(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: ['datasources'] }),
  })
  /** What was asked for stands at once, until the list has it. */
  const isRequired = ({ id, consent }: Datasource): boolean =>
    (change.isPending && change.variables.id === id ? change.variables.consent : consent) === 'require'
  return (
    <Card
      title={t.tabs.consent}
      isFlush
      actions={
        <CopyAs
          call={{
            operation: 'updateDatasource',
            request: { params: { id: datasources.data?.[0]?.id ?? '' }, body: { consent: 'require' } },
          }}
        />
      }
    >
      <p className={styles.lead}>{t.consentLead}</p>
      <Loaded
        query={datasources}
        isEmpty={(rows) => rows.length === 0}
        empty={<Empty icon="shield" title={t.noDatasources} />}
      >
        {(rows) => (
          <ItemList label={t.tabs.consent}>
            {rows.map((row) => (
              <Item
                key={row.id}
                title={row.name}
                details={[[t.takes, isRequired(row) ? t.takesConsented : t.takesAll]]}
                action={
                  <Switch
                    isSelected={isRequired(row)}
                    isDisabled={!mayChange || change.isPending}
                    onChange={(isOn) => change.mutate({ id: row.id, consent: isOn ? 'require' : 'ignore' })}
                  >
                    {t.requireConsent}
                  </Switch>
                }
              />
            ))}
          </ItemList>
        )}
      </Loaded>
    </Card>
  )
}
