"""Values shown: MIME bundles, JSON, frames, pictures, figures."""

import base64
import struct

from tests.driver import RunnerCase


def png_size(text):
    head = base64.b64decode(text)
    assert head[:8] == b"\x89PNG\r\n\x1a\n", head[:8]
    return struct.unpack(">II", head[16:24])


class Values(RunnerCase):
    def shown(self, code):
        cell = self.good(code)
        self.assertEqual(len(cell.results), 1, cell.events)
        return cell.results[0]

    def test_main_and_others(self):
        cell = self.good("display('a')\n'b'")
        self.assertEqual([(event["main"], event["data"]) for event in cell.all("result")],
                         [(False, {"text/plain": "'a'"}), (True, {"text/plain": "'b'"})])

    def test_latex_alone(self):
        self.assertEqual(self.shown("display({'text/latex': '$x$'}, raw=True)"), {"text/latex": "$x$"})

    def test_every_type(self):
        shown = self.shown("""
            class Rich:
                def _repr_html_(self): return '<b>'
                def _repr_markdown_(self): return '*m*'
                def _repr_latex_(self): return '$l$'
                def _repr_svg_(self): return '<svg/>'
                def _repr_png_(self): return b'\\x89PNG'
                def _repr_jpeg_(self): return b'\\xff\\xd8'
                def _repr_pdf_(self): return b'%PDF'
                def _repr_json_(self): return {'a': [1]}
                def _repr_javascript_(self): return 'js()'
                def __repr__(self): return 'rich'
            Rich()
        """)
        self.assertEqual(shown, {
            "text/plain": "rich", "text/html": "<b>", "text/markdown": "*m*", "text/latex": "$l$", "image/svg+xml": "<svg/>",
            "image/png": "iVBORw==", "image/jpeg": "/9g=", "application/pdf": "JVBERg==", "application/json": {"a": [1]},
            "application/javascript": "js()"})
        self.assertEqual(self.shown("display({'application/x-own': {'k': 1}, 'text/plain': 't'}, raw=True)"),
                         {"application/x-own": {"k": 1}, "text/plain": "t"})

    def test_json_of_lists_and_dicts(self):
        for code, value in (
            ("[1, 2.5, None, True, 'x', (3,)]", [1, 2.5, None, True, "x", [3]]),
            ("{'a': {'b': []}}", {"a": {"b": []}}),
            ("{1: 'i', 2.5: 'f', True: 't', None: 'n'}", {"1": "t", "2.5": "f", "null": "n"}),
            ("[float('nan'), float('inf'), -float('inf')]", ["nan", "inf", "-inf"]),
            ("import datetime, uuid, decimal, enum, dataclasses\n[datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3)]",
             ["2024-01-02", "2024-01-02T03:00:00"]),
            ("class E(enum.Enum): A = 5\n@dataclasses.dataclass\nclass D:\n    x: int\n[E.A, D(1), decimal.Decimal('1.5')]", [5, {"x": 1}, "1.5"]),
            ("import numpy as np\n[np.float64(1.5), np.int32(2), np.bool_(True), np.array([[1, 2], [3, 4]]), np.float32('nan')]",
             [1.5, 2, True, [[1, 2], [3, 4]], "nan"]),
            ("{np.int64(3): np.arange(2), np.str_('s'): np.array(['a']), np.datetime64('2024-01-02'): 1}",
             {"3": [0, 1], "s": ["a"], "2024-01-02": 1}),
            ("[]", []), ("{}", {}),
            ("['\\ud800', '\\u20ac\\x7f']", ["\ufffd", "\u20ac\x7f"]),
            ("x = [1]\n[x, x]", [[1], [1]]),
        ):
            with self.subTest(code):
                self.assertEqual(self.shown(code)["application/json"], value)

    def test_what_has_no_json(self):
        for code in ("[object()]", "{'a': {1, 2}}", "[b'x']", "{(1, 2): 3}", "l = []\nl.append(l)\nl", "d = {}\nd['d'] = d\nd",
                     "deep = []\nfor _ in range(500): deep = [deep]\ndeep", "(1, 2)", "{1, 2}", "'text'", "5", "[10**5000]"):
            with self.subTest(code):
                cell = self.run_cell(code)
                self.assertEqual(len(cell.all("end")), 1)
                for shown in cell.results:
                    self.assertNotIn("application/json", shown)

    def test_text_of_sequences_is_whole(self):
        self.assertEqual(self.shown("list(range(3000))")["text/plain"].count(","), 2999)
        self.assertEqual(self.shown("'line\\u2028two'")["text/plain"], "'line\\u2028two'")
        self.assertEqual(self.shown("class U:\n    def __repr__(self): return 'a\\u2028b\\x85c'\nU()")["text/plain"], "a\nb\nc")

    def test_too_big_for_a_line(self):
        cell = self.good("'x' * (40 << 20)")
        self.assertRegex(cell.main, "^<text/plain of 40 MiB is not shown: a result may have 32 MiB at most>$")
        self.assertIn("text/plain of 40 MiB is not shown", cell.text("err"))
        cell = self.good("display({'text/html': 'h' * (33 << 20), 'text/plain': 'small'}, raw=True)")
        self.assertEqual(cell.results, [{"text/plain": "small"}])
        cell = self.good("display({'text/html': 'h' * (33 << 20)}, raw=True)")
        self.assertIn("text/html of 33 MiB", cell.results[0]["text/plain"])
        self.assertEqual(self.good("['y' * (20 << 20)]").results[0].keys(), {"text/plain"})
        self.assertEqual(self.good("1").main, "1")

    def test_updates_are_dropped(self):
        self.assertEqual(len(self.good("h = display('one', display_id=True)\nh.update('two')").results), 1)

    def test_help_objects(self):
        shown = self.shown("from IPython.display import HTML, Image, JSON\nHTML('<i>x</i>')")
        self.assertEqual(shown["text/html"], "<i>x</i>")
        self.assertEqual(self.shown("JSON({'k': [1, {'n': None}]})")["application/json"], {"k": [1, {"n": None}]})


class Frames(RunnerCase):
    def data(self, code):
        cell = self.good("import pandas as pd, numpy as np, datetime\n" + code)
        self.assertEqual(len(cell.results), 1)
        return cell.results[0]

    def test_frame(self):
        shown = self.data("pd.DataFrame({'a': [1, 2, 3], 'b': [1.5, float('nan'), float('inf')], 'c': ['x', None, 'z']})")
        self.assertEqual(set(shown), {"text/plain", "text/html", "e2b/data"})
        self.assertEqual(shown["e2b/data"], {"a": [1, 2, 3], "b": [1.5, "nan", "inf"], "c": ["x", None, "z"]})

    def test_times(self):
        shown = self.data("""
pd.DataFrame({'t': pd.to_datetime(['2024-01-02', '2024-01-02 03:04:05', None]), 'z': pd.to_datetime(['2024-01-02'] * 3, utc=True),
              'd': [datetime.date(2024, 1, 2)] * 3, 'p': pd.period_range('2024-01', periods=3, freq='M'), 'w': pd.to_timedelta([1, 2, 3], 's')})
""")["e2b/data"]
        self.assertEqual(shown["t"], ["2024-01-02T00:00:00", "2024-01-02T03:04:05", "NaT"])
        self.assertEqual(shown["z"], ["2024-01-02T00:00:00+00:00"] * 3)
        self.assertEqual(shown["d"], ["2024-01-02"] * 3)
        self.assertEqual(shown["p"], ["2024-01", "2024-02", "2024-03"])
        self.assertEqual(shown["w"][0], "0 days 00:00:01")

    def test_odd_columns(self):
        self.assertEqual(self.data("pd.DataFrame([[1, 2]], columns=['a', 'a'])")["e2b/data"], {"a": [1], "a.1": [2]})
        self.assertEqual(self.data("pd.DataFrame({0: [True], '1': [np.int8(2)], None: [pd.NA]})")["e2b/data"], {"0": [True], "1": [2], "None": [None]})
        self.assertEqual(self.data("pd.DataFrame({('a', 'b'): [1]})")["e2b/data"], {"('a', 'b')": [1]})
        self.assertEqual(self.data("pd.DataFrame({'l': [[1, np.float64('nan')]], 'o': [object], 'c': pd.Categorical(['k'])})")["e2b/data"],
                         {"l": [[1, "nan"]], "o": ["<class 'object'>"], "c": ["k"]})
        self.assertEqual(self.data("pd.DataFrame()")["e2b/data"], {})
        self.assertEqual(self.data("pd.DataFrame({'x': [1]}, index=['i'])")["e2b/data"], {"x": [1]})

    def test_series_has_no_data(self):
        self.assertNotIn("e2b/data", self.data("pd.Series([1])"))

    def test_big_frame_keeps_text_and_html(self):
        self.assertEqual(set(self.data("pd.DataFrame({'a': np.arange(1_000_001)})")), {"text/plain", "text/html"})

    def test_display_in_the_midst(self):
        cell = self.good("display(pd.DataFrame({'a': [1]}))\n7")
        self.assertEqual([event["main"] for event in cell.all("result")], [False, True])
        self.assertEqual(cell.results[0]["e2b/data"], {"a": [1]})

    def test_wide_frames_are_told_as_in_notebooks(self):
        text = self.data("pd.DataFrame({f'column{i}': [i] for i in range(12)})")["text/plain"]
        self.assertIn("column11", text)


class Pictures(RunnerCase):
    def test_last_expression_show_and_save(self):
        self.good("from PIL import Image\nimport numpy\nimg = Image.fromarray(numpy.zeros((20, 30, 3), dtype=numpy.uint8))")
        for code in ("img", "img.show()", "img.save('/tmp/cay-test.png')", "img.save('/tmp/cay-test.jpg')", "display(img)"):
            with self.subTest(code):
                cell = self.good(code)
                self.assertEqual(len(cell.results), 1)
                self.assertEqual(png_size(cell.results[0]["image/png"]), (30, 20))
        self.good("import os; os.remove('/tmp/cay-test.png'); os.remove('/tmp/cay-test.jpg')")

    def test_save_elsewhere_is_silent(self):
        self.assertEqual(self.good("from PIL import Image\nimport io\nImage.new('L', (2, 2)).save(io.BytesIO(), 'PNG')").results, [])
        cell = self.run_cell("Image.new('L', (2, 2)).save('/not/there.png')")
        self.assertEqual((cell.error_name, cell.results), ("FileNotFoundError", []))

    def test_modes_png_does_not_know(self):
        for mode in ("CMYK", "F", "HSV", "YCbCr", "RGBA", "P", "1", "I"):
            with self.subTest(mode):
                cell = self.good(f"from PIL import Image\nImage.new('{mode}', (4, 3))")
                self.assertEqual(png_size(cell.results[0]["image/png"]), (4, 3))


class Figures(RunnerCase):
    def test_figure_is_shown_once(self):
        for code in ("plt.plot([1, 2]); plt.show()", "plt.plot([1, 2]);", "fig, ax = plt.subplots(); ax.plot([1, 2]); plt.show()"):
            with self.subTest(code):
                cell = self.good("import matplotlib.pyplot as plt\n" + code)
                self.assertEqual([event["main"] for event in cell.all("result")], [False])
                self.assertEqual(set(cell.results[0]), {"image/png", "text/plain", "e2b/chart"})
                self.assertGreater(min(png_size(cell.results[0]["image/png"])), 300)
        self.assertEqual(self.good("1").results, [{"text/plain": "1"}])

    def test_show_and_expression_give_two_results(self):
        cell = self.good("import matplotlib.pyplot as plt\nplt.plot([1, 2, 3, 4])\nplt.show()\n\n'last'")
        self.assertEqual([event["main"] for event in cell.all("result")], [False, True])
        self.assertIn("image/png", cell.results[0])

    def test_several_figures_and_formats(self):
        cell = self.good("import matplotlib.pyplot as plt\nfor i in range(3):\n    plt.figure(); plt.plot([i, 1])")
        self.assertEqual(len(cell.results), 3)
        cell = self.good("%config InlineBackend.figure_format = 'svg'\nplt.plot([1]);")
        self.assertIn("image/svg+xml", cell.results[0])
        self.good("%config InlineBackend.figure_format = 'png'")
        self.assertEqual(self.good("%matplotlib inline\nplt.plot([1, 2]);").results[0].keys(), {"image/png", "text/plain", "e2b/chart"})

    def test_figure_of_a_failing_cell(self):
        cell = self.run_cell("import matplotlib.pyplot as plt\nplt.plot([1, 2])\n1/0")
        self.assertEqual((cell.error_name, len(cell.results)), ("ZeroDivisionError", 1))

    def test_saved_figure_is_not_shown_twice(self):
        cell = self.good("import matplotlib.pyplot as plt, os\nplt.plot([1, 2]); plt.savefig('/tmp/cay-fig.png'); plt.savefig('/tmp/cay-fig.jpg'); plt.show()\n"
                         "os.remove('/tmp/cay-fig.png'); os.remove('/tmp/cay-fig.jpg')")
        self.assertEqual(len(cell.results), 1)

    def test_other_backends_are_left_alone(self):
        runner = self.own(env={"MPLBACKEND": "pdf"})
        self.assertEqual(runner.run("import matplotlib; matplotlib.get_backend()").main, "'pdf'")
        runner = self.own()
        runner.run("import matplotlib; matplotlib.use('agg'); import matplotlib.pyplot as plt; plt.plot([1]);")
        self.assertEqual(runner.run("matplotlib.get_backend()").main, "'agg'")
        self.assertEqual(runner.run("import os; os.environ.get('MPLBACKEND')").main, None)


class Warm(RunnerCase):
    arguments = ("warm",)

    def test_loaded_and_silent(self):
        cell = self.own("warm").run("import sys; [n in sys.modules for n in ('numpy', 'pandas', 'matplotlib.pyplot', 'PIL.Image')]")
        self.assertEqual((cell.count, cell.main), (1, "[True, True, True, True]"))
        self.assertEqual(len(cell.events), 3)

    def test_holds_only_pipes(self):
        cell = self.own("warm").run("import os\nsorted({os.readlink(f'/proc/self/fd/{f}').split(':')[0] for f in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{f}')})")
        self.assertEqual(cell.main, "['/dev/null', 'anon_inode', 'pipe', 'socket']")

    def test_figures_after_warming(self):
        cell = self.good("import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()\n'x'")
        self.assertEqual([set(data) for data in cell.results], [{"image/png", "text/plain", "e2b/chart"}, {"text/plain"}])
        self.assertEqual(self.good("import pandas as pd; pd.DataFrame({'a': [1]})").results[0]["e2b/data"], {"a": [1]})

    def test_seed_after_warming(self):
        self.runner.set_up(seed="ab" * 16)
        first = self.good("import random, numpy; random.random(), numpy.random.rand()").main
        self.runner.set_up(seed="ab" * 16)
        self.assertEqual(self.good("random.random(), numpy.random.rand()").main, first)
        self.runner.set_up(seed="cd" * 16)
        self.assertNotEqual(self.good("random.random(), numpy.random.rand()").main, first)
