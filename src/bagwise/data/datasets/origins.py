"""The public origin of each data set, with its citation and terms of use; bagwise contains none of the data.

``address`` is the public URL of the files, in which ``{name}`` is replaced by the name of a file without the suffix of
its form. Most URLs name a fixed commit of a repository; they are not tested with each release. Downloaded files are
compared with their known SHA-256, so a file that has changed is rejected.
"""

from typing import NamedTuple

from bagwise.data.datasets.dataset_files import DatasetFile, list_dataset_files

RAW = "https://raw.githubusercontent.com"
SMILES = "fulowl/smiles/90cc3c044ded546502851ae45d59992d97cea953/data"
PROBLEMS = "pevnak/MIProblems/11621590cc4ad6090daa607b699bf18fa0ee310b"
STAINS = "mchelali/Color-Deconvolution/a8ba35cdaef2601bdedf7bfb85240b2ebb738853/DataSet/BreastCancerCell_dataset"
NO_LICENCE = "research data of third parties; no licence is stated"
DIETTERICH = (
    "Dietterich, Lathrop, Lozano-Pérez: Solving the multiple instance problem with axis-parallel rectangles, "
    "Artificial Intelligence 89(1–2), 1997"
)
ANDREWS = "Andrews, Tsochantaridis, Hofmann: Support vector machines for multiple-instance learning, NIPS 2002"
ZHOU = "Zhou, Sun, Li: Multi-instance learning by treating instances as non-i.i.d. samples, ICML 2009"
GELASCA = "Gelasca, Byun, Obara, Manjunath: Evaluation and benchmark for biological image segmentation, ICIP 2008"


class Origin(NamedTuple):
    """The public origin of a data set.

    Attributes
    ----------
    name : str
        Name of the data set.
    page : str
        Where users can find the files: a web page or a description.
    citation : str
        The publication to cite.
    terms : str
        Terms of use.
    address : str or None, default=None
        URL of the files, or None if they cannot be downloaded directly.
    """

    name: str
    page: str
    citation: str
    terms: str
    address: str | None = None

    @property
    def parts(self) -> tuple[DatasetFile, ...]:
        """The files of the data set."""
        return list_dataset_files(self.name)


def _make_classic_origin(name: str, citation: str, file: str | None = None) -> Origin:
    return Origin(
        name=name,
        page="the PRTools files of miproblems.org (2013), kept at "
        f"https://github.com/{SMILES.replace('/90', '/tree/90')}",
        citation=citation,
        terms=NO_LICENCE,
        address=f"{RAW}/{SMILES}/{file or name}.mat",
    )


def _make_problem_origin(name: str, folder: str, citation: str) -> Origin:
    return Origin(
        name=name,
        page=f"https://github.com/{PROBLEMS.replace('/116', '/tree/116')}/{folder}",
        citation=citation,
        terms=NO_LICENCE,
        address=f"{RAW}/{PROBLEMS}/{folder}/{{name}}",
    )


ORIGINS = {
    origin.name: origin
    for origin in (
        _make_classic_origin("musk1", DIETTERICH, file="musk2"),  # the two files are swapped in that repository
        _make_classic_origin("musk2", DIETTERICH, file="musk1"),
        _make_classic_origin("fox", ANDREWS),
        _make_classic_origin("tiger", ANDREWS),
        _make_classic_origin("elephant", ANDREWS),
        Origin(
            name="mnist-bags",
            page="the four idx files of MNIST, gzip-compressed or not; a mirror: "
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            citation="LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document recognition, "
            "Proceedings of the IEEE 86(11), 1998",
            terms=NO_LICENCE,
            address="https://ossci-datasets.s3.amazonaws.com/mnist/{name}.gz",
        ),
        Origin(
            name="colon-cancer",
            page="CRCHistoPhenotypes_2016_04_28 of the University of Warwick (Tissue Image Analytics); there is a copy "
            "in the history of https://github.com/zhuyiche/sfcn-opi at 15a25c8039eeabacef72d43612da2b33c996dd85",
            citation="Sirinukunwattana et al.: Locality sensitive deep learning for detection and classification of "
            "nuclei in routine colon cancer histology images, IEEE TMI 35(5), 2016",
            terms="released for research purpose only, with citation of that article",
        ),
        Origin(
            name="breast-cancer",
            page="UCSB Bio-Segmentation Benchmark (breast cancer cells), kept at "
            f"https://github.com/{STAINS.replace('/a8', '/tree/a8')}",
            citation=GELASCA,
            terms="research use, with that citation",
            address=f"{RAW}/{STAINS}/{{name}}.tif",
        ),
        Origin(
            name="ucsb-breast",
            page="ucsb_breast_cancer.csv of the Python package mil 1.0.5 (mil/data/datasets/csv)",
            citation="Kandemir, Zhang, Hamprecht: Empowering multiple instance histopathology cancer diagnosis by cell "
            f"graphs, MICCAI 2014; images: {GELASCA}",
            terms=NO_LICENCE,
        ),
        _make_problem_origin("newsgroups-1", "Newsgroups1", ZHOU),
        _make_problem_origin("newsgroups-2", "Newsgroups2", ZHOU),
        _make_problem_origin(
            "mutagenesis-1",
            "Mutagenesis1",
            "Srinivasan, Muggleton, King: Comparing the use of background knowledge by inductive logic programming "
            "systems, ILP 1995",
        ),
        _make_problem_origin(
            "protein",
            "Protein",
            "Tao, Scott, Vinodchandran, Osugi: SVM-based generalized multiple-instance learning via approximate box "
            "counting, ICML 2004",
        ),
        _make_problem_origin(
            "corel-beach",
            "CorelBeach",
            "Chen, Bi, Wang: MILES: Multiple-instance learning via embedded instance selection, IEEE TPAMI 28(12), "
            "2006",
        ),
        _make_problem_origin(
            "brown-creeper",
            "BrownCreeper",
            "Briggs et al.: Acoustic classification of multiple simultaneous bird species: a multi-instance "
            "multi-label approach, Journal of the Acoustical Society of America 131(6), 2012",
        ),
    )
}
