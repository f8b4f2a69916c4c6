"""Charts of figures, with exact values."""

from tests.driver import RunnerCase

IMPORTS = "import matplotlib.pyplot as plt, matplotlib, numpy as np, datetime\n"


class Charts(RunnerCase):
    maxDiff = None

    def chart(self, code):
        cell = self.good(IMPORTS + "\n".join(line.strip() for line in code.split("\n")))
        figures = [data for data in cell.results if "e2b/chart" in data]
        self.assertEqual(len(figures), 1, cell.events)
        return figures[0]["e2b/chart"]

    def test_bar(self):
        chart = self.chart("""
            plt.bar(['Alice', 'Bob', 'Carol'], [25, 40, 35], color='blue')
            plt.xlabel('Authors'); plt.ylabel('Number of Books'); plt.title('Books by Author')
            plt.grid(True, axis='y')
            plt.show()
        """)
        self.assertEqual(chart, {
            "type": "bar", "title": "Books by Author", "x_label": "Authors", "y_label": "Number of Books", "x_unit": None, "y_unit": None,
            "elements": [{"label": "Alice", "group": "Group 0", "value": 25}, {"label": "Bob", "group": "Group 0", "value": 40},
                         {"label": "Carol", "group": "Group 0", "value": 35}]})

    def test_bar_lying(self):
        chart = self.chart("plt.barh(['a', 'b'], [1.5, 3]); plt.xlabel('Mass (kg)'); plt.ylabel('Thing'); plt.axvline(2)")
        self.assertEqual((chart["type"], chart["x_label"], chart["y_label"], chart["x_unit"], chart["y_unit"]), ("bar", "Thing", "Mass (kg)", None, "kg"))
        self.assertEqual(chart["elements"], [{"label": "a", "group": "Group 0", "value": 1.5}, {"label": "b", "group": "Group 0", "value": 3}])

    def test_bars_in_groups(self):
        chart = self.chart("""
            x = np.arange(2)
            plt.bar(x - 0.2, [1, 2], 0.4, label='men'); plt.bar(x + 0.2, [3, 4], 0.4, label='women')
            plt.xticks(x, ['G1', 'G2']); plt.legend()
        """)
        self.assertEqual([(e["group"], e["label"], e["value"]) for e in chart["elements"]],
                         [("men", "G1", 1), ("men", "G2", 2), ("women", "G1", 3), ("women", "G2", 4)])

    def test_bars_over_numbers_and_equal_bars(self):
        self.assertEqual([e["label"] for e in self.chart("plt.bar([1, 2.5], [3, 4])")["elements"]], ["1.0", "2.5"])
        self.assertEqual([e["value"] for e in self.chart("plt.hist([1, 1, 2, 5], bins=2)")["elements"]], [3, 1])
        equal = self.chart("plt.bar(['a', 'b'], [5, 5])")
        self.assertEqual([(e["label"], e["value"]) for e in equal["elements"]], [("a", 5), ("b", 5)])

    BOXES = """
            data = {'Class A': [85, 90, 78, 92, 88], 'Class B': [95, 89, 76, 91, 84, 87], 'Class C': [75, 82, 88, 79, 86]}
            labels, values = list(data), list(data.values())
            fig, ax = plt.subplots()
    """

    def test_boxes(self):
        chart = self.chart(self.BOXES + """
            ax.boxplot(values, labels=labels)
            ax.boxplot(values, labels=labels, patch_artist=True)
            ax.yaxis.grid(True)
            ax.set_title('Exam'); ax.set_xlabel('Class'); ax.set_ylabel('Score')
            plt.tight_layout(); plt.show()
        """)
        self.assertEqual(chart, {
            "type": "box_and_whisker", "title": "Exam", "x_label": "Class", "y_label": "Score", "x_unit": None, "y_unit": None,
            "elements": [
                {"label": "Class A", "min": 78.0, "first_quartile": 85.0, "median": 88.0, "third_quartile": 90.0, "max": 92.0, "outliers": []},
                {"label": "Class B", "min": 84.0, "first_quartile": 84.75, "median": 88.0, "third_quartile": 90.5, "max": 95.0, "outliers": [76.0]},
                {"label": "Class C", "min": 75.0, "first_quartile": 79.0, "median": 82.0, "third_quartile": 86.0, "max": 88.0, "outliers": []}]})
        for element in chart["elements"]:
            self.assertTrue(all(isinstance(element[key], float) for key in ("min", "first_quartile", "median", "third_quartile", "max")))

    def test_boxes_lying(self):
        chart = self.chart(self.BOXES + "            ax.boxplot(values, labels=labels, patch_artist=True, vert=False)\n            ax.set_xlabel('Score'); ax.set_ylabel('Class')")
        self.assertEqual((chart["x_label"], chart["y_label"]), ("Class", "Score"))
        self.assertEqual([(e["label"], e["median"], e["max"], e["outliers"]) for e in chart["elements"]],
                         [("Class A", 88.0, 92.0, []), ("Class B", 88.0, 95.0, [76.0]), ("Class C", 82.0, 88.0, [])])

    def test_boxes_of_other_shapes(self):
        one = self.chart("plt.boxplot([[1, 2, 3, 4, 5]], patch_artist=True)")
        self.assertEqual((one["x_label"], one["elements"][0]["median"], one["elements"][0]["min"], one["elements"][0]["label"]), (None, 3.0, 1.0, "1"))
        flat = self.chart("plt.boxplot([[5, 5, 5, 5], [1, 1, 1, 9, 9, 9, 9]], patch_artist=True)")
        self.assertEqual([(e["min"], e["first_quartile"], e["median"], e["third_quartile"], e["max"]) for e in flat["elements"]],
                         [(5.0,) * 5, (1.0, 1.0, 9.0, 9.0, 9.0)])
        many = self.chart("plt.boxplot([[1, 2, 3, 4, 5, 90, 90, -70]], patch_artist=True, notch=True, showmeans=True)")
        self.assertEqual(sorted(many["elements"][0]["outliers"]), [-70.0, 90.0, 90.0])

    def test_line_over_dates(self):
        chart = self.chart("""
            dates = [datetime.date(2023, 9, 1) + datetime.timedelta(seconds=i) for i in range(100)]
            y = np.sin(np.linspace(0, 2 * np.pi, 100))
            plt.plot(dates, y, label='y = sin(x)')
            plt.xlabel('Time (sec)'); plt.ylabel('Amplitude (Hz)'); plt.title('Plot of sin(x)'); plt.grid(True)
        """)
        self.assertEqual((chart["type"], chart["title"], chart["x_unit"], chart["y_unit"]), ("line", "Plot of sin(x)", "sec", "Hz"))
        self.assertEqual((chart["x_scale"], chart["y_scale"]), ("datetime", "linear"))
        self.assertTrue(all(isinstance(tick, str) and tick[4] == "-" and "T" in tick for tick in chart["x_ticks"]))
        self.assertTrue(all(isinstance(tick, float) for tick in chart["y_ticks"]))
        self.assertEqual((len(chart["x_ticks"]), len(chart["y_ticks"])), (len(chart["x_tick_labels"]), len(chart["y_tick_labels"])))
        (line,) = chart["elements"]
        self.assertEqual((line["label"], len(line["points"]), line["points"][0]), ("y = sin(x)", 100, ["2023-09-01", 0.0]))

    def test_moments(self):
        points = self.chart("plt.plot([datetime.datetime(2024, 1, 2, 3, 4, 5), datetime.datetime(2024, 1, 3)], [1, 2])")["elements"][0]["points"]
        self.assertEqual(points, [["2024-01-02T03:04:05", 1], ["2024-01-03T00:00:00", 2]])
        chart = self.chart("plt.plot(np.array(['2024-01-02T03:04:05.678', '2024-01-03'], dtype='datetime64[ms]'), [1, 2])")
        self.assertEqual((chart["x_scale"], chart["elements"][0]["points"]), ("datetime", [["2024-01-02T03:04:05", 1], ["2024-01-03T00:00:00", 2]]))
        chart = self.chart("import pandas as pd\npd.Series([1.0, 2.0], index=pd.to_datetime(['2024-01-02', '2024-01-09'])).plot()")
        self.assertEqual((chart["type"], len(chart["elements"][0]["points"])), ("line", 2))
        chart = self.chart("plt.scatter([datetime.datetime(2024, 1, 2, 12), datetime.datetime(2024, 1, 3)], [1, 2])")
        self.assertEqual((chart["x_scale"], chart["elements"][0]["points"]), ("datetime", [["2024-01-02T12:00:00", 1.0], ["2024-01-03T00:00:00", 2.0]]))

    def test_line_of_words(self):
        chart = self.chart("plt.plot([1, 2, 3], ['low', 'mid', 'high'])")
        self.assertEqual((chart["x_scale"], chart["y_scale"], chart["y_tick_labels"], chart["y_ticks"]),
                         ("linear", "categorical", ["low", "mid", "high"], [0.0, 1.0, 2.0]))
        self.assertEqual(chart["elements"], [{"label": "Line 0", "points": [[1, "low"], [2, "mid"], [3, "high"]]}])

    def test_two_lines_with_units(self):
        chart = self.chart("plt.plot([1, 2, 3], [2, 3, 5], label='one'); plt.plot([1, 2, 3], [5, 3, 2], label='two'); plt.legend()\n"
                           "plt.xlabel('Time [s]'); plt.ylabel('Speed (m/s) (mean)')")
        self.assertEqual((chart["x_label"], chart["x_unit"], chart["y_unit"]), ("Time [s]", "s", "m/s"))
        self.assertEqual([e["label"] for e in chart["elements"]], ["one", "two"])
        chart = self.chart("plt.plot([1, 2, 3], [1, 4, 9]); plt.xlabel('f(x)'); plt.ylabel('')")
        self.assertEqual((chart["x_label"], chart["x_unit"], chart["y_label"], chart["title"]), ("f(x)", None, None, None))

    def test_log(self):
        chart = self.chart("""
            x = np.linspace(0, 10, 100)
            plt.plot(x, np.exp(x), label='y = e^x'); plt.yscale('log')
            plt.xlabel('X-axis'); plt.ylabel('Y-axis (log scale)'); plt.title('Log scale'); plt.legend(); plt.grid(True)
        """)
        self.assertEqual((chart["type"], chart["x_unit"], chart["y_unit"], chart["x_scale"], chart["y_scale"]), ("line", None, "log scale", "linear", "log"))
        self.assertTrue(all(isinstance(tick, float) for tick in chart["x_ticks"] + chart["y_ticks"]))
        self.assertTrue(all(isinstance(label, str) for label in chart["x_tick_labels"] + chart["y_tick_labels"]))
        self.assertEqual(len(chart["elements"][0]["points"]), 100)

    def test_scales(self):
        for name in ("log", "symlog", "logit", "asinh", "linear"):
            self.assertEqual(self.chart(f"plt.plot([0.1, 0.2, 0.3], [0.4, 0.5, 0.7]); plt.xscale('{name}')")["x_scale"], name)
        chart = self.chart("plt.plot([0.1, 0.2, 0.3], [0.4, 0.5, 0.7]); plt.yscale('function', functions=(np.sqrt, np.square))")
        self.assertEqual(chart["y_scale"], "function")
        self.assertEqual(self.chart("plt.plot([1, 2, 3], [4, 5, 7]); plt.xticks([1, 2, 3], ['1', '2', '3'])")["x_scale"], "linear")
        self.assertEqual(self.chart("plt.plot([0, 1, 2], [4, 5, 7]); plt.xticks([0, 1, 2], ['0', '1', '2'])")["x_scale"], "linear")
        self.assertEqual(self.chart("plt.plot([0, 1, 2], [4, 5, 7]); plt.xticks([0, 1, 2], ['a', 'b', 'c'])")["x_scale"], "categorical")
        self.assertEqual(self.chart("plt.plot([0, 1, 2], [4, 5, 7]); plt.xticks([])")["x_scale"], "linear")

    def test_pie(self):
        chart = self.chart("plt.pie([90, 10], labels=['No', 'No, in blue'], autopct='%1.1f%%', startangle=90, colors=['red', 'blue']); plt.axis('equal'); plt.title('Will I wake up early')")
        self.assertEqual(chart, {"type": "pie", "title": "Will I wake up early", "elements": [
            {"label": "No", "angle": 324, "radius": 1}, {"label": "No, in blue", "angle": 36, "radius": 1}]})
        chart = self.chart("plt.pie([1, 1, 1, 4], radius=1.5)")
        self.assertEqual([(e["label"], e["angle"], e["radius"]) for e in chart["elements"]],
                         [("", 51.4286, 1.5)] * 3 + [("", 205.7143, 1.5)])

    def test_scatter(self):
        chart = self.chart("""
            plt.scatter(np.arange(5), np.arange(5) * 2, c='blue', label='Dataset 1')
            plt.scatter(np.arange(10), np.arange(10), c='red', label='Dataset 2')
            plt.scatter([1], [2])
            plt.xlabel('A'); plt.ylabel('B'); plt.axhline(3)
        """)
        self.assertEqual((chart["type"], chart["title"], chart["x_label"], chart["y_label"]), ("scatter", None, "A", "B"))
        self.assertEqual([(e["label"], len(e["points"])) for e in chart["elements"]], [("Dataset 1", 5), ("Dataset 2", 10), ("_child2", 1)])
        self.assertEqual(chart["elements"][0]["points"][2], [2.0, 4.0])
        self.assertTrue(all(isinstance(value, float) for point in chart["elements"][1]["points"] for value in point))

    def test_superchart(self):
        chart = self.chart("""
            fig, axs = plt.subplots(1, 2)
            axs[0].plot([1, 2, 3], [4, 5, 7]); axs[0].set_title('Line'); axs[0].grid(True)
            axs[1].scatter([1, 2], [3, 4]); axs[1].set_title('Dots'); axs[1].set_xlabel('X'); axs[1].set_ylabel('Y'); axs[1].grid(True)
            fig.suptitle('Both'); plt.tight_layout(); plt.show()
        """)
        self.assertEqual((chart["type"], chart["title"], sorted(chart)), ("superchart", "Both", ["elements", "title", "type"]))
        line, dots = chart["elements"]
        self.assertEqual((line["type"], line["title"], line["x_label"], line["y_label"]), ("line", "Line", None, None))
        self.assertEqual((dots["type"], dots["title"], dots["x_label"], dots["y_label"]), ("scatter", "Dots", "X", "Y"))
        self.assertIsNone(self.chart("fig, axs = plt.subplots(2); axs[0].plot([1, 2, 4])")["title"])

    def test_unknown(self):
        chart = self.chart("""
            fig, ax = plt.subplots()
            ax.add_artist(plt.Circle((0.2, 0.2), 0.2)); ax.add_artist(plt.Circle((0.7, 0.7), 0.2)); plt.grid(True); plt.title('Circles')
        """)
        self.assertEqual(chart, {"type": "unknown", "title": "Circles", "elements": []})
        self.assertEqual(self.chart("plt.imshow(np.zeros((3, 3)))")["type"], "unknown")
        self.assertEqual(self.chart("plt.fill_between([1, 2], [1, 3])")["type"], "unknown")

    def test_blank(self):
        self.assertEqual(self.chart("plt.subplots(2, 2); plt.show()"), {})
        self.assertEqual(self.chart("plt.figure(); plt.show()"), {})
        self.assertEqual(self.chart("plt.subplots(); plt.text(0.5, 0.5, 'words')"), {})

    def test_guides(self):
        chart = self.chart("""
            plt.plot([0, 5], [1, 1], label='flat'); plt.plot([2, 2], [0, 5], label='steep'); plt.axhline(2); plt.axvline(3)
            plt.plot([0, 1], [0, 1], label='slanted'); plt.plot([4, 4, 4, 4], [0, 1, 2, 3], label='four')
        """)
        self.assertEqual([e["label"] for e in chart["elements"]], ["slanted", "four"])

    def test_numbers_json_does_not_have(self):
        points = self.chart("plt.plot([1, 2, 3], [1.5, float('nan'), np.float32(2)])")["elements"][0]["points"]
        self.assertEqual(points, [[1, 1.5], [2, "nan"], [3, 2.0]])
        chart = self.chart("plt.scatter([1, 2, 3], [1, np.nan, 3])")
        self.assertEqual(len(chart["elements"][0]["points"]), 3)
        chart = self.chart("plt.bar(['a', 'b'], [1, np.nan])")
        self.assertEqual([e["value"] for e in chart["elements"]], [1.0, "nan"])
        self.assertEqual(self.chart("plt.plot(np.ma.masked_equal([1, 2, 3], 2))")["elements"][0]["points"][1], [1, None])
        self.assertEqual(self.chart("plt.plot([]); plt.plot([1, 2, 4])")["elements"][0]["points"], [])

    def test_size_is_capped(self):
        points = self.chart("plt.plot(np.arange(200_000))")["elements"][0]["points"]
        self.assertEqual((len(points), points[0], points[-1]), (50_000, [0, 0], [199_999, 199_999]))
        self.assertEqual(len(self.chart("plt.scatter(np.arange(60_000), np.arange(60_000))")["elements"][0]["points"]), 50_000)

    def test_extraction_that_fails(self):
        cell = self.good(IMPORTS + "fig, ax = plt.subplots(); ax.plot([1, 2, 3]); ax.get_title = lambda *a: 1/0; plt.show()")
        self.assertEqual(cell.results[0]["e2b/chart"], {})
        self.assertIn("image/png", cell.results[0])

    def test_figure_without_pyplot(self):
        cell = self.good("from matplotlib.figure import Figure\nf = Figure(); f.subplots().plot([1, 2, 4]); f")
        self.assertEqual(cell.results[0]["e2b/chart"]["type"], "line")

    def test_seaborn(self):
        cell = self.run_cell("import seaborn")
        if cell.error:
            self.skipTest("no seaborn here")
        chart = self.chart("import seaborn\nseaborn.barplot(x=['a', 'b'], y=[1, 2])")
        self.assertEqual([(e["label"], e["value"]) for e in chart["elements"]], [("a", 1), ("b", 2)])
