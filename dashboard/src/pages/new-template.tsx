import { useRef } from 'preact/hooks'
import { call, get, may, message } from '../api'
import { Field, FieldError, Form, pairs, text } from '../form'
import { go, href } from '../router'

const EXAMPLE = `FROM e2bdev/base
RUN pip install --no-cache-dir rich
RUN echo 'print("hello from my template")' > hello.py
CMD ["python3", "-m", "http.server", "8000"]
EXPOSE 8000
`

interface Requested {
  templateID: string
  buildID: string
}

/** Builds a template from a Dockerfile that is pasted here. */
export function NewTemplate() {
  const source = useRef<HTMLTextAreaElement>(null)
  const submit = async (form: FormData) => {
    const dockerfile = String(form.get('dockerfile') ?? '')
    if (!dockerfile.trim()) throw new FieldError('dockerfile', 'Paste a Dockerfile')
    const buildArgs = pairs(form, 'buildArgs')
    const made = await call<Requested>('POST', '/v3/templates', {
      name: text(form, 'name'),
      cpuCount: Number(text(form, 'cpuCount')),
      memoryMB: Number(text(form, 'memoryMB')),
    })
    try {
      await call('POST', `/v2/templates/${made.templateID}/builds/${made.buildID}`, { dockerfile, buildArgs })
    } catch (e) {
      // What was asked for and never began is taken back.
      await forget(made).catch(() => undefined)
      const said = message(e).replace(/^validation error: /, '')
      if (/^Dockerfile:\d+/.test(said)) {
        choose(source.current!, Number(said.split(':')[1]))
        throw new FieldError('dockerfile', said)
      }
      if (said.includes("'filesHash'")) {
        throw new FieldError('dockerfile', 'It copies files of its directory, which are not here: build it with `cay template build DIRECTORY`.')
      }
      throw e
    }
    go(`/templates/${made.templateID}?build=${made.buildID}`)
  }
  if (!may.value.templates) return <p class="empty">This key may not build templates.</p>
  return (
    <section class="narrow">
      <header class="page">
        <h1>Build a template</h1>
      </header>
      <Form action="Build" submit={submit}>
        <Field name="name" label="Name" hint="A name that exists gets another build; NAME:TAG gives the build that tag">
          <input required placeholder="my-template" spellcheck={false} autocomplete="off" />
        </Field>
        <Field name="dockerfile" label="Dockerfile" hint="COPY of files needs their directory: build those with `cay template build DIRECTORY`">
          <textarea ref={source} class="mono" rows={14} spellcheck={false} defaultValue={EXAMPLE} />
        </Field>
        <div class="two">
          <Field name="cpuCount" label="CPUs">
            <input type="number" min="1" max="32" value="2" required />
          </Field>
          <Field name="memoryMB" label="Memory in MB">
            <input type="number" min="128" step="2" value="512" required />
          </Field>
        </div>
        <Field name="buildArgs" label="Build arguments" hint="Values of ARG, one NAME=value in each line">
          <textarea class="mono" rows={2} spellcheck={false} />
        </Field>
      </Form>
      <p>
        <a href={href('/templates')}>All templates</a>
      </p>
    </section>
  )
}

async function forget({ templateID, buildID }: Requested): Promise<void> {
  const { builds } = await get<{ builds: unknown[] }>('/templates/' + templateID)
  if (builds.length > 1) await call('POST', `/templates/${templateID}/builds/${buildID}/cancel`)
  else await call('DELETE', '/templates/' + templateID)
}

/** Selects a line, which the server has named. */
function choose(area: HTMLTextAreaElement, line: number): void {
  const lines = area.value.split('\n')
  const from = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0)
  area.focus()
  area.setSelectionRange(from, from + (lines[line - 1]?.length ?? 0))
}
